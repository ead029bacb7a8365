import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { Delivered } from '../../lib/live/readers/delivery.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { innerState, startService, type TestService, times } from '../support/service.ts'
import { positionOf, startReading, turns, withSeq } from './readers.ts'

/** How many replays may be in progress in a process. */
const AT_ONCE = 64

const PATIENT = { timeout: 30_000 }

const isMissed = ({ id, event }: Delivered) => id !== undefined && event.type !== 'stream.ready'

describeOnEachDatabase('when more streams resume than may be sent missed events at once', (openUrl) => {
  let service: TestService
  let thread: Awaited<ReturnType<typeof startReading>>
  beforeAll(async () => {
    // Heartbeats are sent by the tests, and no client is too slow.
    const config = { sse: { max_streams_per_user: 200, heartbeat_seconds: 3600 }, server: { stalled_seconds: 3600 } }
    service = await startService(await openUrl(), { config })
    thread = await startReading(service)
  })
  afterAll(() => service.close())

  /** Opens a stream that has missed events, whose client reads nothing until `drain`. */
  async function resume(user_id: string, conversation_id: string | undefined, last_event_id: string) {
    const actor = await service.chat.users.actor(user_id)
    const reader = { ready: 0, missed: 0, heartbeats: 0, drain: () => {}, leave: () => {} }
    const drained = new Promise<void>((resolve) => (reader.drain = resolve))
    const opening = conversation_id
      ? await service.chat.events.open(actor, conversation_id, { last_event_id })
      : await service.chat.events.openAll(actor, { last_event_id })
    reader.leave = opening.connect({
      write({ events }) {
        if (events.length === 0) reader.heartbeats++
        if (events[0]?.event.type === 'stream.ready') reader.ready++
        if (events.some(isMissed)) reader.missed++
      },
      pending: () => (reader.missed > 0 ? 1 : 0),
      drained: () => (reader.missed > 0 ? drained : Promise.resolve()),
      end() {},
    })
    return reader
  }

  it.each(['one conversation', 'all'])('the others wait, with heartbeats, and users take turns: %s', async (kind) => {
    const { ada, grace } = thread
    const conversation_id = kind === 'all' ? undefined : thread.conversation_id
    const position = conversation_id
      ? withSeq(await positionOf(ada, thread.conversation_id), 0)
      : await positionOfAll(ada.id)
    await ada.messages.postRoot(thread.conversation_id, { content: 'missed' })
    const stuck = await Promise.all(times(AT_ONCE + 6, () => resume(ada.id, conversation_id, position)))
    const sent = () => stuck.filter(({ missed }) => missed > 0)
    await vi.waitUntil(() => sent().length >= AT_ONCE && stuck.every(({ ready }) => ready === 1), PATIENT)
    await turns(50)
    expect(sent()).toHaveLength(AT_ONCE)

    const other = await resume(grace.id, conversation_id, position)
    await vi.waitUntil(() => other.ready === 1, PATIENT)
    await turns(50)
    expect(other.missed).toBe(0)
    innerState(service).streams.hub.sendHeartbeats()
    expect(stuck.filter(({ heartbeats }) => heartbeats === 1)).toHaveLength(6)
    expect(other.heartbeats).toBe(1)

    // One of the same user came before, and five of them are left.
    sent()[0]!.leave()
    sent()[1]!.drain()
    await vi.waitUntil(() => other.missed > 0 && sent().length > AT_ONCE, PATIENT)
    await turns(50)
    expect(sent()).toHaveLength(AT_ONCE + 1)
    for (const each of stuck) each.leave()
    await turns(50)
    expect(sent()).toHaveLength(AT_ONCE + 1)
    other.leave()
    await vi.waitUntil(() => innerState(service).streams.hub.size() === 0, PATIENT)
  })

  async function positionOfAll(user_id: string): Promise<string> {
    const stream = service.chat.events.followAll(await service.chat.users.actor(user_id))
    const { value } = await stream.next()
    await stream.return(undefined)
    return value!.id!
  }
})
