import pg from 'pg'
import { afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import type { Actor } from '../../lib/core/actor.ts'
import { appendEvents } from '../../lib/live/log/appending.ts'
import { copyPostgresDatabase, describeOnEachDatabase, directUrl } from '../support/databases.ts'
import { setUpService } from '../support/describe-service.ts'
import { innerState, startService, times } from '../support/service.ts'
import { holdStorage, type Which } from './held.ts'
import { inTens } from './readers.ts'

const readsMemberships: Which = (sql) => sql.includes('p.conversation_id, p.joined_at')
const readsMissed: Which = (sql) => sql.includes('AS given') && sql.includes('e.seq >=')

describe.skipIf(!inject('postgres_url'))('a stream of all conversations beside many open transactions', () => {
  it('has what was committed meanwhile as soon as they end, although nothing new happens', async () => {
    const database = await copyPostgresDatabase()
    const service = await startService(database.url)
    const ada = await service.chat.users.actor((await service.signIn('ada')).id)
    const { conversation_id } = await service.chat.conversations.create(ada)
    const stream = service.chat.events.followAll(ada)
    await stream.next()
    // More than a snapshot keeps.
    const clients = times(66, () => new pg.Client(directUrl(database.url)))
    for (const client of clients) {
      await client.connect()
      await client.query('BEGIN')
      await client.query('SELECT pg_current_xact_id()')
    }
    await service.chat.messages.postRoot(ada, conversation_id, { content: 'meanwhile' })
    await innerState(service).streams.poller.poll()
    for (const client of clients) await client.end()
    for await (const { event } of stream) if (event.type === 'message.new') break
    await service.close()
    await database.remove()
  })
})

describeOnEachDatabase('a reader that begins a stream of all conversations', (openUrl) => {
  const held = holdStorage()
  const service = setUpService(async () => {
    const config = { sse: { max_buffer_bytes: 16 * 1024 * 1024 } }
    return startService(await openUrl(), { wrap: held.wrap, config })
  })
  let ada: Actor
  let grace: Actor
  beforeAll(async () => {
    ada = await service.chat.users.actor((await service.signIn('ada')).id)
    grace = await service.chat.users.actor((await service.signIn('grace')).id)
  })
  afterEach(() => held.reset())

  const create = async (actor: Actor) => (await service.chat.conversations.create(actor)).conversation_id
  const post = (actor: Actor, id: string, content: string) => service.chat.messages.postRoot(actor, id, { content })

  it('alone on its node, has no event of a conversation that it leaves meanwhile, and those of one that it joins', async () => {
    const { participants, events } = service.chat
    const [left, joined] = [await create(grace), await create(grace)]
    await participants.add(grace, left, { user_id: ada.user_id })
    const memberships = held.hold(readsMemberships, 'after')
    const stream = events.followAll(ada)
    const ready = stream.next()
    await memberships.reached
    await participants.remove(grace, left, ada.user_id)
    await participants.add(grace, joined, { user_id: ada.user_id })
    memberships.release()
    expect((await ready).value!.event.type).toBe('stream.ready')
    await post(grace, left, 'hidden')
    await post(grace, joined, 'shown')
    const seen: string[] = []
    for await (const { event } of stream) {
      if (event.type === 'message.new') seen.push(event.payload.message.content)
      if (seen.includes('shown') || seen.includes('hidden')) break
    }
    expect(seen).toEqual(['shown'])
  })

  it('gets all events of a transaction with thousands of them, which other processes do too', async () => {
    const conversation_id = await create(ada)
    const stream = service.chat.events.followAll(ada)
    await stream.next()
    const events = times(100, () => ({ type: 'conversation.updated' as const }))
    await innerState(service).db.write(async (tx) => {
      for (let i = 0; i < 52; i++)
        await appendEvents(tx, [{ conversation_id, at: Date.now() * 1000, messages: 0, roots: 0, events }])
    })
    await post(ada, conversation_id, 'the end')
    const seqs: number[] = []
    for await (const { event, seq } of stream) {
      if (seq !== undefined) seqs.push(seq)
      if (event.type === 'message.new') break
    }
    expect(seqs).toEqual(times(seqs.length, (index) => seqs[0]! + index))
    expect(seqs.length).toBe(5_202)
  })

  it('reads what it has missed in many conversations in few rounds', async () => {
    const { db } = innerState(service)
    const conversations = await inTens(300, () => create(ada))
    const first = await service.chat.events.followAll(ada).next()
    for (let i = 0; i < 4; i++)
      await db.write((tx) =>
        appendEvents(
          tx,
          conversations.map((conversation_id) => ({
            ...{ conversation_id, at: Date.now() * 1000, messages: 0, roots: 0 },
            events: [{ type: 'conversation.updated' as const }],
          })),
        ),
      )
    const before = held.count(readsMissed)
    const seqs = new Map<string, number[]>(conversations.map((id) => [id, []]))
    let count = 0
    for await (const { event, conversation_id, seq } of service.chat.events.followAll(ada, {
      last_event_id: first.value!.id!,
    })) {
      if (event.type !== 'conversation.updated') continue
      seqs.get(conversation_id!)!.push(seq!)
      if (++count === 1200) break
    }
    for (const each of seqs.values()) expect(each).toEqual(times(4, (i) => each[0]! + i))
    expect(held.count(readsMissed) - before).toBeLessThan(50)
  })
})
