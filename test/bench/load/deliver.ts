import { setTimeout as sleep } from 'node:timers/promises'
import { type Audience, openAudience } from './audience.ts'
import { createLedger, createTally } from './ledger.ts'
import { marker } from './marker.ts'
import { type Measured, measure } from './measure.ts'
import { openPoster, type Poster } from './poster.ts'
import type { Step } from './reader.ts'
import { createWindow, type Slot, type Until, type Window } from './window.ts'

/** A chat under test, in raw bytes: what opens a reader, and the text of a post before and after its marker. */
export interface ChatTarget {
  /** Of the server, or of all processes whose CPU counts. */
  pid: number | number[]
  port: number
  steps: Step[]
  post: readonly [before: string, after: string]
  /** Whether posts are sent on the streams of readers, who see their own post as its answer; default: by HTTP. */
  posts_on_streams?: boolean
  /** Whether readers may get posts in different orders; default: in one. */
  is_unordered?: boolean
}

export interface DeliveryLoad {
  readers: number
  /** Posts under way at a time. */
  window: number
  /** What ends one; default: `delivered`, that it is answered and delivered to all readers. */
  until?: Until
  seconds: number
}

/** A post under way longer than this after the last one was sent is lost. Node ends idle connections after 5 s. */
const DRAIN_MS = 4_000

/** Long enough for a second copy of the last post to show. */
const LATE_COPY_MS = 50

/**
 * Posts as fast as the window allows, for one round, to readers opened for it.
 *
 * @returns the posts delivered to all readers in the measured part
 */
export async function deliver(target: ChatTarget, { readers, ...load }: DeliveryLoad): Promise<Measured> {
  const audience = await openAudience(target.port, Array(readers).fill(target.steps))
  try {
    return await deliverTo(audience, target, load)
  } finally {
    audience.close()
  }
}

/** The same to readers that are open already. */
export async function deliverTo(
  audience: Audience,
  target: Omit<ChatTarget, 'steps'>,
  load: Omit<DeliveryLoad, 'readers'>,
): Promise<Measured> {
  const { readers, failure } = audience
  const { fail, or } = failure
  const window = createWindow(load.window, (slot) => send(slot), load.until)
  const { seen } = (target.is_unordered ? createTally : createLedger)(readers.length, window.slots, {
    delivered: (slot) => window.settle(slot, 'delivered'),
    fail,
  })
  for (const reader of readers) reader.position = 0
  audience.seen = seen
  const posters: Poster[] = []
  const send = target.posts_on_streams ? openStreamSender() : openHttpSender()

  function text({ seq }: Slot): string {
    return target.post[0] + marker(seq) + target.post[1]
  }

  function openHttpSender(): (slot: Slot) => void {
    const idle: ((slot: Slot) => void)[] = []
    for (let n = 0; n < load.window; n++) {
      let sent: Slot
      const post = (slot: Slot) => {
        sent = slot
        poster.send(text(slot))
      }
      const onAnswer = () => {
        idle.push(post)
        window.settle(sent, 'answered')
      }
      const poster = openPoster(target.port, onAnswer, fail)
      posters.push(poster)
      idle.push(post)
    }
    return (slot) => idle.shift()!(slot)
  }

  function openStreamSender(): (slot: Slot) => void {
    const { seen } = audience
    audience.seen = (reader, seq) => {
      seen(reader, seq)
      const slot = window.slots.find((candidate) => candidate.seq === seq && !candidate.answered)
      if (slot && reader === readers[slot.index]) window.settle(slot, 'answered')
    }
    return (slot) => void readers[slot.index]!.socket.write(text(slot))
  }

  try {
    window.open()
    const measured = await or(measure(target.pid, load.seconds, () => window.done))
    window.close()
    await or(drained(window))
    if (readers.some(({ position }) => position !== window.sent))
      throw new Error('a reader got a post too few or too many')
    return measured
  } finally {
    for (const poster of posters) poster.close()
  }
}

/** Resolves when everything sent is answered and delivered, and no second copy came after it. */
async function drained(window: Window): Promise<void> {
  const until = performance.now() + DRAIN_MS
  while (window.done < window.sent) {
    if (performance.now() > until) throw new Error('a post was not answered, or did not reach every reader')
    await sleep(5)
  }
  await sleep(LATE_COPY_MS)
}
