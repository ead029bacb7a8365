import { beforeAll, expect, it } from 'vitest'
import type { ConversationStreamEvent } from '../../lib/chat/events/schema.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { setUpService } from '../support/describe-service.ts'
import { startService, times } from '../support/service.ts'
import { openStream } from '../support/stream.ts'
import { positionOf, range, readAnew, seqOf, seqsOf, startReading } from './readers.ts'

const WRITERS = 4
const WRITES = 12
/** The number of reads that are checked. */
const CHECKED = 8

describeOnEachDatabase('a read plus the stream from its position', (openUrl) => {
  const service = setUpService(async () =>
    startService(await openUrl(), { config: { sse: { max_streams_per_user: 1000 } } }),
  )
  let reading: Awaited<ReturnType<typeof startReading>>
  beforeAll(async () => {
    reading = await startReading(service)
  })

  /** The events of the conversation after `position`, up to its end. */
  async function rest(conversation_id: string, position: string): Promise<ConversationStreamEvent[]> {
    const end = await positionOf(reading.ada, conversation_id)
    const stream = await openStream(service.base_url, conversation_id, {
      cookie: reading.cookie,
      last_event_id: position,
    })
    const seen = await stream.until('stream.ready')
    expect(seen[0]!.event.payload).toMatchObject({ resumed: true, last_event_id: position })
    while (seen.at(-1)!.id !== end) seen.push((await stream.next())!)
    await stream.close()
    expect(seqsOf(seen)).toEqual(range(seqOf(position), seqOf(end)))
    return seen.slice(1).map(({ event }) => event)
  }

  /** Runs several writers, and `read` again and again meanwhile. @returns some of the results */
  async function meanwhile<T>(write: (index: number) => Promise<unknown>, read: () => Promise<T>): Promise<T[]> {
    const found: T[] = []
    let writing = WRITERS
    const writers = times(WRITERS, async (writer) => {
      for (let i = 0; i < WRITES; i++) await write(writer * WRITES + i)
      writing--
    })
    const readers = times(2, async () => {
      while (writing > 0) found.push(await read())
    })
    await Promise.all([...writers, ...readers])
    const step = Math.ceil(found.length / CHECKED)
    return found.filter((_, index) => index % step === 0)
  }

  it('equals a thread as it is in the end', async () => {
    const { ada, grace, conversation_id, root } = await readAnew(reading)
    const ids = [root.message_id]
    const params = { root_id: root.root_id }
    const found = await meanwhile(
      async (i) => {
        const parent_id = ids[i % ids.length]!
        const posted = await (i % 2 ? ada : grace).messages.reply(parent_id, { content: `${i}` })
        ids.push(posted.message_id)
      },
      () => ada.threads.tree(params.root_id, { limit: 500 }),
    )
    const end = await ada.threads.tree(params.root_id, { limit: 500 })
    expect(end.messages).toHaveLength(WRITERS * WRITES + 1)
    for (const { messages, stream_position } of found) {
      const later = (await rest(conversation_id, stream_position!)).flatMap((event) =>
        event.type === 'message.new' ? [event.payload.message] : [],
      )
      const together = [...messages, ...later].sort((a, b) => (a.path < b.path ? -1 : 1))
      expect(together).toEqual(end.messages)
    }
  })

  it('equals the list of threads as it is in the end', async () => {
    const { ada, grace, conversation_id, root } = await readAnew(reading)
    const roots = [root.message_id]
    const _params = { conversation_id }
    const found = await meanwhile(
      async (i) => {
        const body = { content: `${i}` }
        if (i % 3 === 0) roots.push((await ada.messages.postRoot(conversation_id, body)).root_id)
        else await grace.messages.reply(roots[i % roots.length]!, body)
      },
      () => ada.threads.list(conversation_id, { limit: 200 }),
    )
    const end = await ada.threads.list(conversation_id, { limit: 200 })
    for (const { threads, stream_position } of found) {
      const counts = new Map(threads.map((thread) => [thread.root_id, thread.message_count]))
      for (const event of await rest(conversation_id, stream_position!)) {
        if (event.type === 'thread.new') expect(counts.has(event.payload.root_id)).toBe(false)
        if (event.type !== 'message.new') continue
        const { root_id } = event.payload.message
        counts.set(root_id, (counts.get(root_id) ?? 0) + 1)
      }
      expect(counts).toEqual(new Map(end.threads.map((thread) => [thread.root_id, thread.message_count])))
    }
  })

  it('equals the unread counts as they are in the end', async () => {
    const { ada, grace, conversation_id, root } = await readAnew(reading)
    const _params = { conversation_id }
    const found = await meanwhile(
      (i) => (i % 3 ? ada : grace).messages.reply(root.message_id, { content: `${i}` }),
      () => grace.threads.unread(conversation_id),
    )
    const end = await grace.threads.unread(conversation_id)
    expect(end.total).toBeGreaterThan(1)
    for (const { total, stream_position } of found) {
      const later = (await rest(conversation_id, stream_position!)).filter(
        (event) => event.type === 'message.new' && event.payload.message.author_user_id !== grace.id,
      )
      expect(total + later.length).toBe(end.total)
    }
  })

  it('equals the participants as they are in the end', async () => {
    const { ada, grace, eve, conversation_id } = await readAnew(reading)
    const _params = { conversation_id }
    const found = await meanwhile(
      async (i) => {
        const { id: user_id } = i % 2 ? eve : grace
        // Another writer may have been faster; then there is nothing to do.
        const change =
          i % 4 < 2
            ? ada.participants.add(conversation_id, { user_id })
            : ada.participants.remove(conversation_id, user_id)
        await change.catch(() => {})
      },
      () => ada.conversations.get(conversation_id),
    )
    const end = await ada.conversations.get(conversation_id)
    for (const { participants, stream_position } of found) {
      const present = new Set(participants.map((participant) => participant.user_id))
      for (const event of await rest(conversation_id, stream_position!)) {
        if (event.type !== 'membership.changed') continue
        const { user_id, action } = event.payload
        expect(present.has(user_id)).toBe(action === 'removed')
        if (action === 'removed') present.delete(user_id)
        else present.add(user_id)
      }
      expect(present).toEqual(new Set(end.participants.map((participant) => participant.user_id)))
    }
  })
})
