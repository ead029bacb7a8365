import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { insertParticipant } from '../../../lib/chat/memberships/store.ts'
import type { Storage } from '../../../lib/index.ts'
import type { Queries } from '../../../lib/storage/database.ts'
import { type Sql, statement } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, PASSWORD, type Person, startService, type TestService } from '../../support/service.ts'
import { openStream, signInByHand, type TestStream } from '../../support/stream.ts'

/** What the service reads and writes of read markers. */
const statements: string[] = []

function recording({ db, ...storage }: Storage): Storage {
  function recorded<Q extends Queries>(queries: Q): Q {
    const note = (sql: Sql) => {
      // Not the background jobs.
      if (sql.text.includes('thread_members')) statements.push(sql.text)
      return sql
    }
    return {
      ...queries,
      all: (sql: Sql) => queries.all(note(sql)),
      get: (sql: Sql) => queries.get(note(sql)),
      run: (sql: Sql) => queries.run(note(sql)),
    }
  }
  return {
    ...storage,
    db: {
      ...db,
      snapshot: (work) => db.snapshot((queries) => work(recorded(queries))),
      write: (work, options) => db.write((tx) => work(recorded(tx)), options),
    },
  }
}

describeOnEachDatabase('the events about read markers', (openUrl) => {
  let here: TestService
  let there: TestService
  let ada: Person
  let grace: Person
  let alan: Person
  let conversation_id: string
  const streams: TestStream[] = []
  beforeAll(async () => {
    const url = await openUrl()
    const config = { session: { max_sessions_per_user: 50 } }
    here = await startService(url, { config, wrap: recording })
    there = await startService(url, { config })
    const nodes = [...here.nodes, ...there.nodes].map((node) => innerState(node).cluster)
    await vi.waitUntil(() => nodes.every((node) => node.countNodes() === nodes.length), { timeout: 30_000 })
    ada = await here.signIn('ada')
    grace = await here.signIn('grace')
    alan = await here.signIn('alan')
    conversation_id = await makeConversation('on')
  })
  afterAll(async () => {
    await Promise.all(streams.map((stream) => stream.close()))
    await Promise.all([here?.close(), there?.close()])
  })

  async function makeConversation(receipts: 'on' | 'off'): Promise<string> {
    const { conversation_id } = await ada.conversations.create()
    for (const { id: user_id } of [grace, alan]) await ada.participants.add(conversation_id, { user_id })
    await ada.conversations.rename(conversation_id, { policy: { receipts } })
    return conversation_id
  }

  async function follow({ base_url }: TestService, person: Person, id?: string): Promise<TestStream> {
    const { cookie } = await signInByHand(base_url, person.email, PASSWORD)
    const stream = await openStream(base_url, id, { cookie })
    streams.push(stream)
    await stream.until('stream.ready')
    return stream
  }
  const payloadOf = async (stream: TestStream) => (await stream.until('read.update')).at(-1)!.event.payload
  /** Marks as read at one process, whichever answers the clients. */
  async function read(person: Person, root_id: string, message_id?: string): Promise<void> {
    const actor = await here.chat.users.actor(person.id)
    await here.chat.threads.markRead(actor, root_id, message_id === undefined ? {} : { message_id })
  }
  const flush = () => innerState(here).streams.receipts.flush()

  it('reach the streams of those who share what they read, on every node, with the latest place', async () => {
    const own = await Promise.all([follow(here, ada, conversation_id), follow(here, ada)])
    const other = await Promise.all([follow(there, ada, conversation_id), follow(there, ada)])
    await alan.conversations.setSettings(conversation_id, { receipts: false })
    const his = await Promise.all([follow(there, alan, conversation_id), follow(there, alan), follow(here, alan)])

    const { message, root_id } = await ada.messages.postRoot(conversation_id, { content: 'first' })
    const { message: second } = await ada.messages.reply(message.id, { content: 'second' })
    // One who does not share is not told of.
    await read(alan, root_id)
    await read(grace, root_id, message.id)
    await flush()
    const at = { conversation_id, root_id, user_id: grace.id }
    for (const stream of [...own, ...other])
      expect(await payloadOf(stream)).toEqual({ ...at, read_at: message.created_at })
    await read(grace, root_id)
    await flush()
    for (const stream of [...own, ...other])
      expect(await payloadOf(stream)).toEqual({ ...at, read_at: second.created_at })
    await here.chat.threads.markUnread(await here.chat.users.actor(grace.id), root_id, { message_id: message.id })
    await flush()
    for (const stream of [...own, ...other]) expect(await payloadOf(stream)).toEqual(at)

    await ada.messages.postRoot(conversation_id, { content: 'end' })
    for (const stream of his) {
      const seen = await stream.until('message.new', (event) => JSON.stringify(event).includes('"end"'))
      expect(seen.map(({ event }) => event.type)).not.toContain('read.update')
    }
    await alan.conversations.setSettings(conversation_id, { receipts: true })
  })

  it('are one for many moves of a moment', async () => {
    const stream = await follow(here, ada, conversation_id)
    const { root_id, message } = await ada.messages.postRoot(conversation_id, { content: 'burst' })
    await read(grace, root_id)
    await flush()
    await payloadOf(stream)
    const place = { is_direct: 0, policy: '{"receipts":"on"}', receipts: 1 }
    for (let i = 0; i < 1000; i++) innerState(here).streams.receipts.moved(place, root_id, grace.id)
    await flush()
    await ada.messages.postRoot(conversation_id, { content: 'after' })
    const seen = await stream.until('message.new', (event) => JSON.stringify(event).includes('"after"'))
    const updates = seen.filter(({ event }) => event.type === 'read.update')
    expect(updates.map(({ event }) => event.payload)).toEqual([
      { conversation_id, root_id, user_id: grace.id, read_at: message.created_at },
    ])
  })

  it('cost no statement in a conversation without receipts', async () => {
    const quiet = await makeConversation('off')
    const counts: number[] = []
    for (const id of [quiet, conversation_id]) {
      const { root_id } = await ada.messages.postRoot(id, { content: 'counted' })
      await flush()
      statements.length = 0
      await read(grace, root_id)
      await flush()
      counts.push(statements.length)
    }
    // The one that reads the markers to send.
    expect(counts[1]).toBe(counts[0]! + 1)
    expect(statements.filter((sql) => sql.includes('u.receipts'))).toHaveLength(1)
  })

  it('are not sent in a conversation with more than 200 participants', async () => {
    const large = await makeConversation('on')
    const { db } = innerState(here)
    const stream = await follow(here, ada, large)
    const { root_id } = await ada.messages.postRoot(large, { content: 'large' })
    for (let i = 0; i < 198; i++) {
      const id = `00000000-0000-7000-8000-${String(i).padStart(12, '0')}`
      await db.write(async (tx) => {
        await tx.run(
          statement(
            `INSERT INTO users (id, email, email_key, username, username_key, roles, created_at, updated_at)
           VALUES (?, ?, ?, ?, ?, 'member', 0, 0)`,
            [id, `${i}@example.org`, `${i}@example.org`, `many${i}`, `many${i}`],
          ),
        )
        await insertParticipant(tx, large, { user_id: id, role: 'member', joined_at: 1 })
      })
    }
    await read(grace, root_id)
    await flush()
    await ada.messages.postRoot(large, { content: 'end' })
    const seen = await stream.until('message.new', (event) => JSON.stringify(event).includes('"end"'))
    expect(seen.map(({ event }) => event.type)).not.toContain('read.update')
  })
})
