import { setTimeout as sleep } from 'node:timers/promises'
import { cpuSeconds, processFiguresMissing } from '../machine.ts'

/** What happened in the measured part of a round. */
export interface Measured {
  count: number
  seconds: number
  /** CPU time of the servers, or NaN where it cannot be read. */
  cpu: number
}

/** What passes before a round is measured: connections, first batches and the compiler settle. */
export const WARM_UP_MS = 700

/** Lets a load warm up and run for `seconds`, and takes the difference of `count` and of the CPU time of its servers. */
export async function measure(pid: number | number[], seconds: number, count: () => number): Promise<Measured> {
  await sleep(WARM_UP_MS)
  const before = sample(pid, count)
  await sleep(seconds * 1000)
  const after = sample(pid, count)
  return {
    count: after.count - before.count,
    seconds: after.seconds - before.seconds,
    cpu: after.cpu - before.cpu,
  }
}

function sample(pid: number | number[], count: () => number): Measured {
  const cpu = processFiguresMissing() ? Number.NaN : [pid].flat().reduce((sum, each) => sum + cpuSeconds(each), 0)
  return { count: count(), seconds: performance.now() / 1000, cpu }
}

export function perSecond({ count, seconds }: Measured): number {
  return count / seconds
}

/** Microseconds of the server's CPU for each of `count × times`. */
export function cpuMicros({ count, cpu }: Measured, times = 1): number {
  if (!count) throw new Error('nothing was done in the measured part of a round')
  return (cpu * 1e6) / (count * times)
}
