import { afterAll, afterEach, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import type { ConversationStreamEvent, Presence } from '../../lib/client/index.ts'
import { currentMicros } from '../../lib/core/time.ts'
import { SECOND } from '../../lib/core/units.ts'
import { OPERATOR, type Storage } from '../../lib/index.ts'
import { sql, statement } from '../../lib/storage/sql.ts'
import { folder, run } from '../cli/process.ts'
import { type ServerProcess, startProcess } from '../fault/process.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { startNodes } from '../support/describe-service.ts'
import { codeOf, innerState, PASSWORD, type Person, startService, type TestService } from '../support/service.ts'
import { openStream, signInByHand, type TestStream } from '../support/stream.ts'

describeOnEachDatabase('two processes on one database', (openUrl, dialect) => {
  let url: string
  let here: TestService
  let there: TestService
  let ada: Person
  let grace: Person
  let conversation_id: string
  const streams: TestStream[] = []
  const processes: ServerProcess[] = []
  beforeAll(async () => {
    url = await openUrl()
    const config = { sse: { max_streams_per_user: 4 }, session: { max_sessions_per_user: 50 } }
    here = await startService(url, { config })
    there = await startService(url, { config })
  })
  let stories = 0
  beforeEach(async () => {
    ada = await here.signIn(`ada${++stories}`)
    grace = await here.signIn(`grace${stories}`)
    conversation_id = (await ada.conversations.create()).conversation_id
    await ada.participants.add(conversation_id, { user_id: grace.id })
  })
  afterEach(async () => {
    await Promise.all(processes.splice(0).map((each) => each.kill()))
    await Promise.all(streams.splice(0).map((stream) => stream.close()))
  })
  afterAll(async () => {
    await Promise.all([here?.close(), there?.close()])
  })

  async function follow(base_url: string, person: Person, id?: string): Promise<TestStream> {
    const { cookie } = await signInByHand(base_url, person.email, PASSWORD)
    const stream = await openStream(base_url, id, { cookie })
    streams.push(stream)
    if (stream.response.ok) await stream.until('stream.ready')
    return stream
  }
  const isStatus = (person: Person, status: string) => (event: ConversationStreamEvent) =>
    event.type === 'presence.update' && event.payload.user_id === person.id && event.payload.status === status
  const becomes = (stream: TestStream, person: Person, status: string) =>
    stream.until('presence.update', isStatus(person, status))
  const statusAt = async ({ chat }: TestService, person: Person) =>
    (await innerState(chat).streams.presence.find(person.id)).status

  it('know each other once the later one has started, so no reader of it misses what the other passes on', async () => {
    const [early, late] = await startNodes(await openUrl(), { config: { cluster: { poll_ms: 1000 } } })
    onTestFinished(async () => void (await Promise.all([early.close(), late.close()])))
    expect([early, late].map(({ chat }) => innerState(chat).cluster.isSingleNode())).toEqual([false, false])
  })

  it('pass typing, activity and unread on to the streams of each other', async () => {
    const [one, all] = [await follow(there.base_url, grace, conversation_id), await follow(there.base_url, grace)]
    const own = await follow(there.base_url, ada, conversation_id)
    await ada.presence.setTyping({ conversation_id })
    for (const stream of [one, all]) {
      const [typing] = (await stream.until('typing.update')).slice(-1)
      expect(typing!.event.payload).toMatchObject({ conversation_id, user_id: ada.id })
    }
    const { root_id } = await ada.messages.postRoot(conversation_id, { content: 'first' })
    await ada.messages.reply(root_id, { content: 'second' })
    for (const stream of [one, all]) {
      const seen = await stream.until('thread.activity')
      expect(seen.filter(({ event }) => event.type === 'message.new')).toHaveLength(2)
    }
    await grace.threads.markRead(root_id, {})
    for (const stream of [one, all]) await stream.until('unread.update')
    for (const level of ['none', 'all'] as const) await grace.conversations.setSettings(conversation_id, { level })
    // One event may stand for both changes: it has what is stored when it is sent.
    const isLast = (event: ConversationStreamEvent) =>
      event.type === 'settings.update' && event.payload.settings.level === 'all'
    await all.until('settings.update', isLast)
    // Only for her.
    await ada.messages.postRoot(conversation_id, { content: 'third' })
    const seen = await own.until('message.new', (event) => JSON.stringify(event).includes('third'))
    expect(seen.filter(({ event }) => event.type === 'unread.update')).toEqual([])
  })

  it('tell the followers of a thread what is unread after a reply, each node its own readers', async () => {
    const { root_id } = await ada.messages.postRoot(conversation_id, { content: 'first' })
    const own = [
      await follow(there.base_url, ada, conversation_id),
      await follow(there.base_url, ada),
      await follow(here.base_url, ada),
    ]
    const other = await follow(there.base_url, grace)
    const { message } = await grace.messages.reply(root_id, { content: 'second' })
    const { unread: conversation_unread, unread_replies: conversation_unread_replies } =
      await ada.threads.unread(conversation_id)
    const numbers = { conversation_unread, conversation_unread_replies }
    const counts = { unread: 1, unread_replies: 1, ...numbers, as_of: message.created_at }
    for (const stream of own) {
      const seen = await stream.until('unread.update')
      expect(seen.filter(({ event }) => event.type === 'message.new')).toHaveLength(1)
      expect(seen.at(-1)!.event.payload).toEqual({ conversation_id, root_id, ...counts })
    }
    await ada.messages.postRoot(conversation_id, { content: 'third' })
    const seen = await other.until('message.new', (event) => JSON.stringify(event).includes('third'))
    expect(seen.filter(({ event }) => event.type === 'unread.update')).toEqual([])
  })

  it('pass nothing on for a post: each node adds the activity of a thread itself', async () => {
    const { root_id } = await ada.messages.postRoot(conversation_id, { content: 'first' })
    const streams = [
      await follow(there.base_url, grace, conversation_id),
      await follow(there.base_url, grace),
      await follow(here.base_url, grace, conversation_id),
    ]
    const { message } = await ada.messages.reply(root_id, { content: 'second' })
    for (const stream of streams) {
      const seen = (await stream.until('thread.activity')).map(({ event }) => event)
      const { created_at: last_reply_at } = message
      const payload = { root_id, last_activity_at: last_reply_at }
      const thread = { root_id, reply_count: 1, last_reply_at, last_replier_ids: [ada.id] }
      expect(seen.slice(-2)).toEqual([
        { type: 'message.new', payload: { message, thread } },
        { type: 'thread.activity', payload },
      ])
    }
    await ada.presence.setTyping({ conversation_id })
    await streams[0]!.until('typing.update')
    const signals = JSON.stringify(await innerState(here).cluster.db.all(sql`SELECT body FROM signals`))
    expect(signals).toContain('typing.update')
    expect(signals).not.toContain('thread.activity')
  })

  it('know the presence of each other’s users, and tell their readers', async () => {
    const stream = await follow(there.base_url, grace, conversation_id)
    const hers = await follow(here.base_url, ada)
    await becomes(stream, ada, 'online')
    expect([await statusAt(here, ada), await statusAt(there, ada)]).toEqual(['online', 'online'])
    await ada.presence.sendHeartbeat({ status: 'away' })
    await becomes(stream, ada, 'away')
    expect(await statusAt(there, ada)).toBe('away')
    // On the other one: the last status counts.
    await there.chat.presence.sendHeartbeat(await there.chat.users.actor(ada.id), { status: 'offline' })
    await becomes(stream, ada, 'offline')
    await here.chat.presence.sendHeartbeat(await here.chat.users.actor(ada.id), { status: 'online' })
    await becomes(stream, ada, 'online')
    const { last_seen_at } = await innerState(there).streams.presence.find(ada.id)
    expect(Date.parse(last_seen_at!)).toBeGreaterThan(Date.now() - 30_000)
    await here.chat.presence.sendHeartbeat(await here.chat.users.actor(ada.id), { status: 'offline' })
    await becomes(stream, ada, 'offline')
    await hers.close()
  })

  it('take the last status of a user who repeats one after another process has got a different one', async () => {
    // A held clock: the other process does not store a repeated status again because time has passed.
    const at = currentMicros()
    const other = await startService(url, { ports: { now: () => at } })
    const stream = await follow(here.base_url, grace, conversation_id)
    const send = async ({ chat }: TestService, status: 'away' | 'online') =>
      chat.presence.sendHeartbeat(await chat.users.actor(ada.id), { status })
    await send(other, 'away')
    await becomes(stream, ada, 'away')
    await send(here, 'online')
    await becomes(stream, ada, 'online')
    await send(other, 'away')
    await becomes(stream, ada, 'away')
    await other.close()
  })

  // As after a crash of PostgreSQL, which empties the table.
  it.skipIf(dialect === 'sqlite')(
    'do not report a user of the other until it has had time to add its users',
    async () => {
      const stream = await follow(there.base_url, grace, conversation_id)
      await follow(here.base_url, ada)
      await becomes(stream, ada, 'online')
      const [hers, presence] = [innerState(here).streams.presence, innerState(there).streams.presence]
      const forget = () => innerState(here).db.run(sql`DELETE FROM node_presence WHERE user_id = ${ada.id}`)
      // Behind it, nothing about her is on its way.
      await hers.sweep()
      await ada.presence.setTyping({ conversation_id })
      await stream.until('typing.update')
      await presence.sweep()
      await forget()
      await presence.renew()
      await hers.renew()
      // A flush that was in progress may have begun before it was there again.
      const find = 'SELECT 1 AS one FROM node_presence WHERE user_id = ? AND since IS NOT NULL'
      await expect.poll(() => innerState(here).db.get(statement(find, [ada.id]))).toBeDefined()
      for (const _ of [1, 2]) await presence.sweep()
      await ada.presence.sendHeartbeat({ status: 'away' })
      const seen = await becomes(stream, ada, 'away')
      expect(seen.filter(({ event }) => isStatus(ada, 'offline')(event))).toEqual([])
      await forget()
      await presence.renew()
      for (const _ of [1, 2]) await presence.sweep()
      await becomes(stream, ada, 'offline')
    },
  )

  // As a crash of PostgreSQL, which empties both tables, and a pause in which others take a process for dead.
  it('know the status that one has got again after its rows were deleted', async () => {
    const stream = await follow(there.base_url, grace, conversation_id)
    await ada.presence.sendHeartbeat({ status: 'away' })
    await becomes(stream, ada, 'away')
    const { cluster } = innerState(here)
    await cluster.db.write(async (tx) => {
      await tx.run(sql`DELETE FROM node_presence WHERE user_id = ${ada.id}`)
      await tx.run(sql`DELETE FROM nodes WHERE id = ${cluster.id}`)
    })
    await expect.poll(() => statusAt(there, ada)).toBe('away')
  })

  it('do not report a user who changes between them', async () => {
    const stream = await follow(there.base_url, grace, conversation_id)
    const first = await follow(here.base_url, ada)
    await becomes(stream, ada, 'online')
    await first.close()
    const second = await follow(there.base_url, ada)
    await innerState(here).streams.presence.sweep()
    await second.close()
    const third = await follow(here.base_url, ada)
    await ada.presence.sendHeartbeat({ status: 'away' })
    const seen = await becomes(stream, ada, 'away')
    expect(seen.filter(({ event }) => isStatus(ada, 'offline')(event))).toEqual([])
    await third.close()
  })

  it('report a user as offline 60 seconds after the last status that another has got', async () => {
    const stream = await follow(there.base_url, grace, conversation_id)
    await ada.presence.sendHeartbeat({ status: 'away' })
    await becomes(stream, ada, 'away')
    expect(await statusAt(there, ada)).toBe('away')
    await age('status_at', 60)
    await innerState(there).streams.presence.sweep()
    const { status, last_seen_at } = (await becomes(stream, ada, 'offline')).at(-1)!.event.payload as Presence
    expect([status, last_seen_at]).toEqual(['offline', expect.any(String)])
    expect(await statusAt(there, ada)).toBe('offline')
  })

  it('report a user as offline 5 seconds after another has lost the last stream', async () => {
    // A held clock: the seconds pass when the test says so.
    let at = currentMicros()
    const other = await startService(url, { ports: { now: () => at } })
    const stream = await follow(there.base_url, grace, conversation_id)
    const hers = await follow(other.base_url, ada)
    await becomes(stream, ada, 'online')
    await hers.close()
    await expect.poll(() => innerState(other).streams.hub.countStreams(ada.id)).toBe(0)
    at += 4.9 * SECOND
    await innerState(other).streams.presence.sweep()
    await innerState(there).streams.presence.sweep()
    expect(await statusAt(there, ada)).toBe('online')
    at += 0.1 * SECOND
    await innerState(other).streams.presence.sweep()
    expect((await becomes(stream, ada, 'offline')).filter(({ event }) => isStatus(ada, 'online')(event))).toEqual([])
    expect(await statusAt(there, ada)).toBe('offline')
    await other.close()
  })

  it('report the users of one that has stopped as offline 5 seconds later', async () => {
    const other = await startService(url)
    const stream = await follow(there.base_url, grace, conversation_id)
    await follow(other.base_url, ada)
    await becomes(stream, ada, 'online')
    await other.close()
    // However long the stop took, it was only just now.
    await age('left_at', -3600)
    await innerState(there).streams.presence.sweep()
    expect(await statusAt(there, ada)).toBe('online')
    await age('left_at', 3605)
    await innerState(there).streams.presence.sweep()
    await becomes(stream, ada, 'offline')
    expect(await statusAt(there, ada)).toBe('offline')
  })

  it('tell each other of a status that has ended, and do not wait for their own look at it', async () => {
    const stream = await follow(there.base_url, grace, conversation_id)
    await ada.presence.sendHeartbeat({ status: 'away' })
    await becomes(stream, ada, 'away')
    const last = await lastSignal()
    await age('status_at', 60)
    await innerState(there).streams.presence.sweep()
    await becomes(stream, ada, 'offline')
    await expect.poll(() => signalsAbout(ada, last)).not.toEqual([])
  })

  const lastSignal = async () => {
    const { db } = innerState(there).cluster
    return (await db.get<{ n: number }>(sql`SELECT coalesce(max(n), 0) AS n FROM signals`))!.n
  }

  /** The signals after the one with the number `last` that a user has another presence. */
  const signalsAbout = ({ id }: Person, last: number) => {
    const { db } = innerState(there).cluster
    return db.all(sql`SELECT n FROM signals WHERE n > ${last} AND body LIKE ${`%"user_ids":[%"${id}"%`}`)
  }

  /** Makes what processes have stored of Ada so many seconds older. */
  async function age(column: 'status_at' | 'left_at', seconds: number): Promise<void> {
    const { db } = innerState(there).cluster
    await db.run(
      statement(`UPDATE node_presence SET ${column} = ${column} - ? WHERE user_id = ?`, [seconds * SECOND, ada.id]),
    )
  }

  it('count the streams of a user together', async () => {
    for (const node of [here, there]) await follow(node.base_url, ada)
    for (const node of [here, there]) await follow(node.base_url, ada, conversation_id)
    const seen = (node: TestService) => innerState(node).streams.presence.countRemote(ada.id)
    await expect.poll(() => seen(here)).toBe(2)
    await expect.poll(() => seen(there)).toBe(2)
    for (const node of [here, there]) {
      const actor = await node.chat.users.actor(ada.id)
      const loop = node.chat.events.followAll(actor)
      expect(await codeOf(loop.next())).toBe('too_many_streams')
    }
    await streams[0]!.close()
    await expect.poll(() => seen(there)).toBe(1)
    expect((await follow(there.base_url, ada)).response.status).toBe(200)
  })

  it('count a further stream of a user, and are not told of the user for it', async () => {
    const stream = await follow(there.base_url, grace, conversation_id)
    await follow(here.base_url, ada)
    await becomes(stream, ada, 'online')
    const counted = () => innerState(there).streams.presence.countRemote(ada.id)
    await expect.poll(counted).toBe(1)
    const last = await lastSignal()
    const second = await follow(here.base_url, ada, conversation_id)
    await expect.poll(counted).toBe(2)
    await second.close()
    await expect.poll(counted).toBe(1)
    // Behind it, nothing about her is on its way.
    await innerState(here).streams.presence.sweep()
    await ada.presence.setTyping({ conversation_id })
    await stream.until('typing.update')
    expect(await signalsAbout(ada, last)).toEqual([])
  })

  it('do not count the streams that one has ended while it drains', async () => {
    const third = await startService(url)
    await follow(third.base_url, ada)
    const count = () => innerState(here).streams.presence.countRemote(ada.id)
    await expect.poll(count).toBe(1)
    third.chat.drain()
    await expect.poll(count).toBe(0)
    expect((await here.chat.nodes.list(OPERATOR)).nodes.map(({ id }) => id)).toContain(innerState(third).cluster.id)
    await third.close()
  })

  it('report the users of one that was killed as offline', async () => {
    const other = await startProcess(url, { config: { cluster: { dead_seconds: 4, beat_seconds: 1 } } })
    processes.push(other)
    const stream = await follow(there.base_url, grace, conversation_id)
    await follow(other.base_url, ada)
    await becomes(stream, ada, 'online')
    await other.kill()
    const killed = Date.now()
    await becomes(stream, ada, 'offline')
    expect(Date.now() - killed).toBeLessThan(15_000)
    expect([await statusAt(here, ada), await statusAt(there, ada)]).toEqual(['offline', 'offline'])
  }, 40_000)

  it('take one that was paused for dead, and hear it again when it wakes', async () => {
    const other = await startProcess(url, { config: { cluster: { beat_seconds: 1 } } })
    processes.push(other)
    const stream = await follow(there.base_url, grace, conversation_id)
    const hers = await follow(other.base_url, ada, conversation_id)
    await becomes(stream, ada, 'online')
    other.signal('SIGSTOP')
    try {
      await becomes(stream, ada, 'offline')
    } finally {
      other.signal('SIGCONT')
    }
    await becomes(stream, ada, 'online')
    await here.chat.presence.setTyping(await here.chat.users.actor(grace.id), { conversation_id })
    await hers.until('typing.update')
  }, 40_000)

  it('list each other, and say so when one stops', async () => {
    const third = await startService(url)
    const names = async () => (await here.chat.nodes.list(OPERATOR)).nodes.map(({ id }) => id)
    const ids = [here, there, third].map(({ chat }) => innerState(chat).cluster.id)
    expect(await names()).toEqual(expect.arrayContaining(ids))
    const { nodes } = await there.chat.nodes.list(OPERATOR)
    expect(nodes.filter(({ self }) => self).map(({ id }) => id)).toEqual([innerState(there).cluster.id])
    const { stdout } = await run(['nodes', 'list', '--database', url, '--json'], { cwd: folder() })
    const listed = JSON.parse(stdout).nodes.map(({ id, self }: { id: string; self?: true }) => [id, self])
    expect(listed).toEqual((await names()).map((id) => [id, undefined]))
    await third.close()
    await expect.poll(names).not.toContain(innerState(third).cluster.id)
    expect(await names()).toEqual(expect.arrayContaining(ids.slice(0, 2)))
  })
})

describeOnEachDatabase('a process that cannot read what another knows of users', (openUrl, dialect) => {
  // A file of signals that fails makes a process alone.
  it.skipIf(dialect === 'sqlite')('publishes none of them as offline', async () => {
    let isFailing = false
    const failing = ({ db, ...storage }: Storage): Storage => {
      const all: Storage['db']['all'] = (sql) => {
        if (isFailing && sql.text.includes('node_presence')) throw new Error('The database does not respond')
        return db.all(sql)
      }
      return { ...storage, db: { ...db, all } }
    }
    const url = await openUrl()
    const [here, there] = [await startService(url, { wrap: failing }), await startService(url)]
    const [ada, grace] = [await there.signIn('ada'), await there.signIn('grace')]
    const { conversation_id } = await ada.conversations.create()
    await ada.participants.add(conversation_id, { user_id: grace.id })
    const follow = async ({ base_url }: TestService, { email }: Person) => {
      const stream = await openStream(base_url, conversation_id, await signInByHand(base_url, email, PASSWORD))
      await stream.until('stream.ready')
      return stream
    }
    const stream = await follow(here, grace)
    const hers = await follow(there, ada)
    const isOf = ({ type, payload }: ConversationStreamEvent) =>
      type === 'presence.update' && (payload as { user_id: string }).user_id === ada.id
    await stream.until('presence.update', isOf)
    isFailing = true
    const { presence } = innerState(here).streams
    presence.reconsider([ada.id])
    await presence.sweep()
    isFailing = false
    await presence.sweep()
    await ada.presence.sendHeartbeat({ status: 'away' })
    const seen = await stream.until('presence.update', (event) => isOf(event) && JSON.stringify(event).includes('away'))
    expect(JSON.stringify(seen)).not.toContain('offline')
    await Promise.all([stream.close(), hers.close()])
    await Promise.all([here.close(), there.close()])
  })
})

describeOnEachDatabase('a process that is alone on its database', (openUrl) => {
  it('sends no signals', async () => {
    const service = await startService(await openUrl())
    const ada = await service.signIn('ada')
    const { conversation_id } = await ada.conversations.create()
    const { root_id } = await ada.messages.postRoot(conversation_id, { content: 'first' })
    await ada.messages.reply(root_id, { content: 'second' })
    await ada.presence.setTyping({ conversation_id })
    await ada.presence.sendHeartbeat({ status: 'away' })
    await innerState(service).streams.presence.sweep()
    const page = await (await fetch(`${service.base_url}/metrics`)).text()
    expect(page).toMatch(/^chat_signals_sent_total 0$/m)
    expect(page).toMatch(/^chat_nodes 1$/m)
    await service.close()
  })
})
