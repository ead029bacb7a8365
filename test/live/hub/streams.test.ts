import { expect, it } from 'vitest'
import { createStreams } from '../../../lib/live/hub/streams.ts'
import type { Reader } from '../../../lib/live/readers/reader.ts'
import { createMetrics } from '../../../lib/metrics/registry.ts'
import { times } from '../../support/service.ts'

it('spreads reconnects after a drain evenly over one to ten seconds', () => {
  const metrics = createMetrics('sqlite', [])
  const streams = createStreams({ metrics, onClose() {} })
  let sent = ''
  const sink = { write: ({ bytes }: { bytes: Uint8Array }) => (sent += Buffer.from(bytes)), end() {} }
  for (const _ of times(910, () => {})) streams.add({ sink, closed: false } as unknown as Reader)
  streams.drain()
  const waits = [...sent.matchAll(/^retry: (\d+)$/gm)].map(([, ms]) => Number(ms))
  expect(waits).toHaveLength(910)
  expect([Math.min(...waits), Math.max(...waits)]).toEqual([1_000, 10_000])
  // The same number in each second; the last ten are due after exactly ten seconds.
  for (const second of times(9, (each) => each)) {
    const due = waits.filter((ms) => ms >= 1_000 + second * 1_000 && ms < 2_000 + second * 1_000)
    expect(due.length).toBe(100)
  }
  metrics.close()
})
