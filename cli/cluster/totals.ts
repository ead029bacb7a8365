import type { Reading } from '../../lib/metrics/page.ts'

/** The metrics of the workers of a service as those of one process. */
export interface Totals {
  /** The readings of a worker, which replace its earlier ones. */
  update(worker: number, readings: Reading[]): void
  /** The worker has ended: its counters remain. */
  end(worker: number): void
  /**
   * @param answered the workers whose gauges are up to date; of the others only the last known counters are added, so that
   * no counter falls
   */
  read(answered: ReadonlySet<number>): Reading[]
}

/** Creates the totals of a service without workers. */
export function createTotals(): Totals {
  const known = new Map<number, Reading[]>()
  let ended: Reading[] = []
  let shown = new Map<string, number>()

  /** A sum of fractions depends on their order: a counter that fell by the last digit would look like a restart. */
  function notFalling(readings: Reading[]): Reading[] {
    const before = shown
    shown = new Map()
    for (const { name, type, samples } of readings) {
      if (type === 'gauge') continue
      for (const sample of samples) {
        const key = name + keyOf(sample)
        sample.value = Math.max(sample.value, before.get(key) ?? 0)
        shown.set(key, sample.value)
      }
    }
    return readings
  }

  return {
    update: (worker, readings) => void known.set(worker, readings),
    end(worker) {
      ended = add([ended, countersOf(known.get(worker) ?? [])])
      known.delete(worker)
    },
    read(answered) {
      const parts = [...known].map(([worker, readings]) => (answered.has(worker) ? readings : countersOf(readings)))
      return notFalling(add([...parts, ended]))
    },
  }
}

function countersOf(readings: Reading[]): Reading[] {
  return readings.filter(({ type }) => type !== 'gauge')
}

/** The families of all parts, each once; the parts stay unchanged. */
function add(parts: Reading[][]): Reading[] {
  const families = new Map<string, { head: Reading; samples: Map<string, Reading['samples'][number]> }>()
  for (const reading of parts.flat()) {
    const { head, samples } = families.get(reading.name) ?? { head: reading, samples: new Map() }
    families.set(reading.name, { head, samples })
    for (const sample of reading.samples) {
      const key = keyOf(sample)
      const other = samples.get(key)?.value
      samples.set(key, { ...sample, value: other === undefined ? sample.value : join(reading, other, sample.value) })
    }
  }
  return [...families.values()].map(({ head, samples }) => ({ ...head, samples: [...samples.values()] }))
}

function join({ type, together }: Reading, one: number, other: number): number {
  if (type !== 'gauge' || together === undefined) return one + other
  return together === 'max' ? Math.max(one, other) : Math.min(one, other)
}

function keyOf({ suffix = '', labels = {} }: Reading['samples'][number]): string {
  return suffix + JSON.stringify(labels)
}
