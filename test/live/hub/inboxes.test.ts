import { expect, it, vi } from 'vitest'
import { ChatError } from '../../../lib/index.ts'
import { createFanOut } from '../../../lib/live/hub/fan-out.ts'
import { createInboxSender } from '../../../lib/live/hub/inboxes.ts'
import { createTypings } from '../../../lib/live/hub/typings.ts'
import type { Ephemeral } from '../../../lib/live/transaction/transaction.ts'

const UNREACHABLE = new ChatError('unavailable')

/** Events about the inbox of a user, whose `unread` tells them apart. */
const about = (...numbers: number[]): Ephemeral[] =>
  numbers.map((unread) => ({
    conversation_id: '',
    user_ids: ['ada'],
    event: { type: 'notifications.count', payload: { unread } },
  }))

/** A sender whose storage fails with the errors in `failures`, one after another; `sent` has what arrived. */
function start() {
  const failures: Error[] = []
  const sent: number[] = []
  const inboxes = createInboxSender({
    followers: { hasUser: () => true } as never,
    all: {
      deliverToUser: (_: string, { event: { payload } }: Ephemeral) =>
        sent.push((payload as { unread: number }).unread),
    } as never,
    async complete(events) {
      const [failure] = failures.splice(0, 1)
      if (failure) throw failure
      return events
    },
    sendHeld: (event) => void inboxes.send([event]),
  })
  return { failures, sent, inboxes }
}

/** A notification that stands for a thread, or another one, as it moves to the front. */
function moved(unread: number, { id = 'n', kind = 'reply', user_ids = ['ada'] } = {}): Ephemeral[] {
  const payload = { notification: { id, kind } as never, unread }
  return [{ conversation_id: 'c', user_ids, event: { type: 'notification.new', payload } }]
}

it('have a notification that moves at once, then at most once a second, the last state in any case', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const { sent, inboxes } = start()
    for (const n of [1, 2, 3]) await inboxes.send(moved(n))
    expect(sent).toEqual([1])
    await inboxes.send(moved(4, { id: 'other' }))
    await inboxes.send(moved(5, { user_ids: ['grace'] }))
    for (const n of [6, 7]) await inboxes.send(moved(n, { id: 'mention', kind: 'mention' }))
    expect(sent.splice(0)).toEqual([1, 4, 5, 6, 7])
    await vi.advanceTimersByTimeAsync(999)
    expect(sent).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(sent.splice(0)).toEqual([3])
    await inboxes.send(moved(8))
    await vi.advanceTimersByTimeAsync(999)
    expect(sent).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(sent.splice(0)).toEqual([8])
    await vi.advanceTimersByTimeAsync(5_000)
    expect(sent).toEqual([])
    await inboxes.send(moved(9))
    await inboxes.send(moved(10))
    inboxes.close()
    expect(vi.getTimerCount()).toBe(0)
    expect(sent).toEqual([9])
  } finally {
    vi.useRealTimers()
  }
})

it('wait while the storage fails, also those that were added meanwhile', async () => {
  const { failures, sent, inboxes } = start()
  failures.push(UNREACHABLE)
  const results = await Promise.allSettled([inboxes.send(about(1)), inboxes.send(about(2))])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(sent).toEqual([])
  await inboxes.send(about(3))
  expect(sent).toEqual([1, 2, 3])
})

it('hold up no others if they cannot be completed for another reason', async () => {
  const { failures, sent, inboxes } = start()
  failures.push(new TypeError('a defect'))
  await expect(inboxes.send(about(1))).rejects.toThrow('a defect')
  await inboxes.send(about(2))
  expect(sent).toEqual([2])
})

it('are sent with all that is caught up with after a failure of the storage', async () => {
  const { failures, sent, inboxes } = start()
  let isBroken = true
  const channel = {
    async advance() {
      if (isBroken) throw UNREACHABLE
    },
  }
  const fanOut = createFanOut({
    ...{ db: {} as never, send() {}, all: {} as never, announce() {}, recheck: async () => {} },
    log: { debug() {}, info() {}, warn() {}, error() {} },
    subscriptions: { channelOf: () => channel, conversations: () => [] } as never,
    followers: { isRead: () => false, hasUser: () => false, count: () => 0 } as never,
    tail: { skipped() {} } as never,
    typings: createTypings(() => 0),
    inboxes,
  })
  const nothing = { rows: [], members: new Set<string>(), told: [], revocations: [] }
  // The log cannot be read, and then what completes the events.
  fanOut.committed({ ...nothing, conversations: new Map([['room', []]]), ephemeral: about(1) })
  await fanOut.idle()
  isBroken = false
  failures.push(UNREACHABLE)
  fanOut.committed({ ...nothing, conversations: new Map(), ephemeral: about(2) })
  await fanOut.idle()
  expect(fanOut.hasFailed()).toBe(true)
  expect(sent).toEqual([])
  await fanOut.catchUpAll()
  expect(sent).toEqual([1, 2])
})
