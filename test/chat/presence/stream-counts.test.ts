import { expect, it, onTestFinished, vi } from 'vitest'
import { createPresenceWatch } from '../../../lib/chat/presence/watch.ts'
import type { Sql } from '../../../lib/storage/sql.ts'

it('lets other processes know within 50 ms how many streams of users have closed, all of a moment together', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const streams = new Map([
    ['ada', 3],
    ['grace', 1],
  ])
  const stored: unknown[][] = []
  const db = { dialect: 'postgresql', run: async ({ params }: Sql) => void stored.push(JSON.parse(String(params[0]))) }
  const watch = createPresenceWatch({
    ...{ db, kv: {}, now: () => 0, log: {}, broadcast_participants: 200, dead_seconds: 10 },
    hub: { countStreams: (id: string) => streams.get(id), stalled: { oldestOf: () => undefined } },
    cluster: { id: 'here', isShared: true, usesSignalFile: false, db },
  } as never)
  for (const [user, count] of [
    ['ada', 2],
    ['ada', 1],
    ['grace', 0],
  ] as const) {
    streams.set(user, count)
    watch.streamsChanged(user)
  }
  await vi.advanceTimersByTimeAsync(50)
  const row = { stalled_age: null, node_id: 'here' }
  expect(stored).toEqual([
    [
      { user_id: 'ada', streams: 1, ...row },
      { user_id: 'grace', streams: 0, ...row },
    ],
  ])
})
