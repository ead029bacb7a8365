import type { Context } from '../../context.ts'
import { causeText } from '../../core/errors.ts'
import { createCondition } from '../../core/scheduling/condition.ts'
import { type Delivered, type Delivery, encode } from '../../live/readers/delivery.ts'
import type { Sink } from '../../live/readers/reader.ts'
import type { Followed, Opening } from './service.ts'
import { subjectsIn } from './subjects.ts'

/** A stream of a system actor: beside the payload of each event are the host's own ids of the users that it names. */
export function withSubjects(ctx: Pick<Context, 'db' | 'log'>, opening: Opening): Opening {
  return {
    connect(sink) {
      const added = createAddedSubjects(ctx, sink, () => leave())
      const leave = opening.connect(added)
      return leave
    },
    cancel: opening.cancel,
  }
}

/** Passes deliveries on in their order, each after its look-up. @param leave closes the stream, which its client resumes */
function createAddedSubjects({ db, log }: Pick<Context, 'db' | 'log'>, sink: Sink, leave: () => void): Sink {
  const queue: Delivery[] = []
  const emptied = createCondition()
  let state: 'open' | 'ending' | 'failed' = 'open'

  async function passOn(): Promise<void> {
    try {
      for (let next = queue[0]; next; next = queue[0]) {
        const delivery = next.events.length > 0 ? await addSubjects(db, next.events) : next
        sink.write(delivery)
        queue.shift()
      }
    } catch (error) {
      log.warn('A stream has ended: the ids of its users could not be read', { cause: causeText(error) })
      state = 'failed'
      queue.length = 0
      leave()
    }
    emptied.changed()
    if (state !== 'open') sink.end()
  }

  return {
    ...sink,
    write(delivery) {
      if (state !== 'open') return
      if (queue.push(delivery) === 1) void passOn()
    },
    pending: () => queue.reduce((sum, { bytes }) => sum + bytes.length, sink.pending()),
    async drained() {
      while (queue.length > 0) await emptied.wait()
      await sink.drained()
    },
    end() {
      if (state !== 'open') return
      state = 'ending'
      if (queue.length === 0) sink.end()
    },
  }
}

async function addSubjects(db: Context['db'], events: readonly Delivered[]): Promise<Delivery> {
  const named = await subjectsIn(
    db,
    events.map(({ event }) => event),
  )
  const shown = events.map((each, n) => ({ ...each, event: { ...each.event, subjects: named[n]! } }))
  const followed: Followed[] = events.map((each, n) => ({ ...each, subjects: named[n]! }))
  return { bytes: encode(shown).bytes, events: followed }
}
