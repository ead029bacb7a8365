import { expect, it } from 'vitest'
import { catchUp } from '../../lib/live/conversation/replay.ts'
import { createSubscriptions } from '../../lib/live/conversation/subscriptions.ts'
import { createReplaySlots } from '../../lib/live/hub/replay-slots.ts'
import { withActivities } from '../../lib/live/readers/delivery.ts'
import type { Reader } from '../../lib/live/readers/reader.ts'
import { times } from '../support/service.ts'
import { type Interleaving, inManyInterleavings } from './interleavings.ts'
import { conversation_id, createLog } from './simulated-log.ts'

/** The streams of one conversation of a process, as the hub makes them, and the clients that resume them. */
function startService(work: Interleaving) {
  const log = createLog(work)
  const slots = createReplaySlots(2)
  const page_bytes = work.pick([300, 3_000, 1_000_000])
  const subscriptions = createSubscriptions({
    complete: withActivities,
    sources: { ofConversation: () => log.source } as never,
    deliver(liveReaders, delivery) {
      for (const reader of liveReaders) reader.sink.write(delivery)
    },
    beforeDelivery: () => (work.chance(0.2) ? log.answer() : undefined),
    measure: () => {},
  })

  function close(reader: Reader): void {
    if (reader.closed) return
    reader.closed = true
    slots.leave(reader)
    subscriptions.remove(conversation_id, reader)
    reader.sink.end()
  }

  async function connect(reader: Reader, last_event_id: string | undefined): Promise<void> {
    await catchUp(reader, subscriptions.add(conversation_id, reader), last_event_id, {
      ...{ slots, page_bytes, close, drained: work.pause, recheck: log.answer },
      getsPresence: async () => true,
      async turn(_, doIt) {
        await work.pause()
        return doIt()
      },
      write: ({ sink }, delivery) => sink.write(delivery),
      send: ({ sink }, delivery) => sink.write(delivery),
    }).catch(() => close(reader))
  }

  function createClient(user_id: string) {
    const got: number[] = []
    const wrong: string[] = []
    let begin = 0
    let last_event_id: string | undefined
    let reading: Reader | undefined

    function open(): void {
      const reader = { conversation_id, user_id, closed: false } as Reader
      const write: Reader['sink']['write'] = ({ events }) => {
        for (const { id, seq, event } of reader.closed ? [] : events) {
          if (event.type === 'stream.reset') got.length = 0
          if (event.type === 'stream.reset' && event.payload.reason !== 'expired') wrong.push(event.payload.reason)
          if (event.type === 'stream.ready' && !event.payload.resumed) begin = event.payload.seq!
          if (seq !== undefined) got.push(seq)
          last_event_id = id ?? last_event_id
        }
      }
      const end = () => {
        reading = undefined
      }
      Object.assign(reader, { sink: { write, end } })
      reading = reader
      void connect(reader, last_event_id)
    }

    return {
      open: () => reading ?? open(),
      close: () => reading && close(reading),
      check(): void {
        const due = log.lines.filter(({ seq, event }) => seq > begin && event).map(({ seq }) => seq)
        const first = due.findIndex((seq, index) => got[index] !== seq)
        if (first >= 0) wrong.push(`${got[first]} is sent instead of ${due[first]}`)
        expect(wrong).toEqual([])
        expect(got.length).toBe(due.length)
      },
    }
  }

  const channel = () => subscriptions.channelOf(conversation_id)
  return {
    log,
    clients: times(4, (n) => createClient(`user ${n % 2}`)),
    commit(count: number): void {
      const events = log.append(count, true)
      work.later(() =>
        channel()
          ?.advance(events)
          .catch(() => {}),
      )
    },
    /** Only events so old that live readers have them. */
    deleteSome(): void {
      log.deleteBefore(work.below((channel()?.position() ?? 0) + 1))
    },
    /** Looks for what others have committed, or what could not be read. */
    poll(): void {
      const found = channel()
      if (found && found.position() < log.lines.length) found.advance().catch(() => {})
    },
  }
}

it('streams of one conversation resume with exactly what they missed, in any interleaving', async () => {
  await inManyInterleavings(100, async (work) => {
    const { log, clients, commit, poll, deleteSome } = startService(work)
    log.setFailing(work.chance(0.3))
    const stepsBetween = work.pick([2, 10, 30])
    const most = work.pick([2, 2, 100])
    const isDeleting = work.chance(0.3)
    for (let left = 10 + work.below(40); left > 0; left--) {
      if (work.chance(0.6)) commit(1 + work.below(most))
      else log.append(1 + work.below(most), false)
      if (work.chance(0.3)) poll()
      if (isDeleting && work.chance(0.1)) deleteSome()
      const client = work.pick(clients)
      if (work.chance(0.2)) client.close()
      client.open()
      for (let steps = work.below(stepsBetween); steps > 0; steps--) await work.step()
    }
    log.setFailing(false)
    await work.settle()
    // A stream whose next events were deleted ends, and begins anew.
    for (const _ of times(3, () => 0)) {
      for (const client of clients) client.open()
      poll()
      await work.settle()
    }
    for (const { check } of clients) check()
  })
})
