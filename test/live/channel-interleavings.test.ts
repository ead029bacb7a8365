import { expect, it } from 'vitest'
import type { EphemeralEvent } from '../../lib/context.ts'
import { createChannel } from '../../lib/live/conversation/channel.ts'
import type { NumberedEvent } from '../../lib/live/log/log.ts'
import { withActivities } from '../../lib/live/readers/delivery.ts'
import { type Interleaving, inManyInterleavings } from './interleavings.ts'
import { conversation_id, createLog } from './simulated-log.ts'

/** A channel of one process, what it delivers, and what makes it go on, as the hub and the poller do. */
function startFollowing(work: Interleaving) {
  const log = createLog(work)
  const delivered: number[] = []
  const wrong: string[] = []
  const sent = new Map<string, number>()
  const published = new Map<string, number>()
  let others = 0
  let seen: number | undefined
  let hasFailed = false
  let count = 0

  const channel = createChannel(log.source, {
    complete: withActivities,
    deliver({ events }) {
      for (const { seq, event } of events) {
        if (seq !== undefined) delivered.push(seq)
        else
          checkEphemeral((event as object as { payload: { user_id: string; number: number; after: number } }).payload)
      }
    },
    beforeDelivery: () => (work.chance(0.3) ? log.answer() : undefined),
  })

  function checkEphemeral(payload: { user_id: string; number: number; after: number }): void {
    const { user_id, number, after } = payload
    if (after > channel.position()) wrong.push(`${number} is sent at ${channel.position()}, before ${after}`)
    if (number <= (sent.get(user_id) ?? 0)) wrong.push(`${number} is sent after ${sent.get(user_id)}`)
    sent.set(user_id, number)
  }

  function publish(after: number): void {
    const user_id = work.pick(['ada', 'grace'])
    published.set(user_id, ++count)
    const payload = { user_id, number: count, after } as object
    channel.publish(conversation_id, { type: 'typing.update', payload } as EphemeralEvent)
  }

  /** @param last is delivered then: what is sent next may refer to it */
  function advance(last: number, events?: NumberedEvent[]): void {
    const advanced = channel.advance(events).then(() => {
      if (channel.position() < last) wrong.push(`${last} is not delivered at ${channel.position()}`)
    })
    advanced.catch(() => {
      hasFailed = true
    })
  }

  return {
    log,
    delivered,
    commit(size: number): void {
      const events = log.append(size, true)
      const [isKnown, isFollowed] = [work.chance(0.8), work.chance(0.5)]
      work.later(() => {
        if (isFollowed) publish(events.at(-1)!.seq)
        advance(events.at(-1)!.seq, isKnown ? events : [])
      })
    },
    commitElsewhere(size: number): void {
      const events = log.append(size, false)
      others++
      if (!work.chance(0.3)) return
      work.later(() => {
        publish(events.at(-1)!.seq)
        advance(events.at(-1)!.seq)
      })
    },
    publishAlone(): void {
      publish(0)
      advance(0)
    },
    /** Finds whether another process has committed since the last time. */
    async poll(): Promise<void> {
      if (hasFailed) seen = undefined
      hasFailed = false
      await work.pause()
      const [found, last] = [others, log.lines.length]
      await work.pause()
      try {
        if (seen !== found && (channel.position() < last || channel.hasEphemeral())) await channel.advance()
        seen = found
      } catch {
        seen = undefined
      }
    },
    check(): void {
      const due = log.due()
      const first = due.findIndex((seq, index) => delivered[index] !== seq)
      if (first >= 0) wrong.push(`${delivered[first]} is delivered instead of ${due[first]}`)
      expect(wrong).toEqual([])
      expect(delivered.length).toBe(due.length)
      expect(sent).toEqual(published)
    },
  }
}

it('a channel delivers all events once, in order, and ephemeral ones after them, in any interleaving', async () => {
  await inManyInterleavings(200, async (work) => {
    const { log, commit, commitElsewhere, publishAlone, poll, check } = startFollowing(work)
    log.setFailing(work.chance(0.5))
    // More than a page, or than what may wait, as often as little.
    const most = work.pick([2, 2, 2, 70, 500])
    const stepsBetween = work.pick([1, 4, 20])
    const isOwn = work.pick([0.3, 0.7, 1])
    let polling: Promise<void> | undefined
    for (let commits = 5 + work.below(30); commits > 0; commits--) {
      const size = 1 + work.below(most)
      if (work.chance(0.1)) publishAlone()
      if (work.chance(isOwn)) commit(size)
      else commitElsewhere(size)
      if (work.chance(0.3)) polling ??= poll().finally(() => (polling = undefined))
      for (let steps = work.below(stepsBetween); steps > 0; steps--) await work.step()
    }
    log.setFailing(false)
    await work.settle()
    await Promise.all([poll(), work.settle()])
    check()
  })
})
