/** One series of a family at the moment of the page. */
export interface Sample {
  /** The suffix of its name: `_bucket` of a histogram. */
  suffix?: string
  labels?: Record<string, string>
  value: number
}

/** The name and meaning of all series of one name. */
interface FamilyHead {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  /**
   * How the gauges of several processes become one: `max` or `min` if each has the same value, or the worst one matters.
   * Default: `sum`, which counters and histograms always are.
   */
  together?: 'max' | 'min'
}

/** A metric family of Prometheus: all series of one name. */
export interface Family extends FamilyHead {
  /** Called for each page. */
  read(): Sample[] | Promise<Sample[]>
}

/** A family with its values at one moment; it can be sent to another process. */
export interface Reading extends FamilyHead {
  samples: Sample[]
}

/** The values of all families now. */
export function readFamilies(families: readonly Family[]): Promise<Reading[]> {
  return Promise.all(families.map(async ({ read, ...head }) => ({ ...head, samples: await read() })))
}

/**
 * Families in Prometheus' text format
 * (https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format).
 */
export function formatPage(readings: readonly Reading[]): string {
  const blocks = readings.map(({ name, help, type, samples }) => {
    const lines = samples.map((sample) => `${name}${sample.suffix ?? ''}${labelsOf(sample)} ${sample.value}`)
    return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines].join('\n')
  })
  return `${blocks.join('\n\n')}\n`
}

function labelsOf({ labels = {} }: Sample): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`)
  return pairs.length > 0 ? `{${pairs.join(',')}}` : ''
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')
}

/** A counter with at most one label. */
export interface Counter {
  family: Family
  /** @param label_value '' for a counter without a label */
  add(label_value: string, count: number): void
}

/**
 * Creates a counter.
 *
 * @param values the values of `label` with a series from the start: a rate does not see a step from no series to one
 */
export function createCounter(name: string, help: string, label?: string, values: readonly string[] = []): Counter {
  const counts = new Map<string, number>((label ? values : ['']).map((value) => [value, 0]))
  const read = () => [...counts].map(([each, value]) => (label ? { labels: { [label]: each }, value } : { value }))
  return {
    family: { name, help, type: 'counter', read },
    add: (value, count) => void counts.set(value, (counts.get(value) ?? 0) + count),
  }
}

/** A gauge of what all processes share, which each reads by itself: absent while it cannot be read. */
export function sharedGauge(name: string, help: string, value: number | undefined): Family {
  return { name, help, type: 'gauge', together: 'max', read: () => (value === undefined ? [] : [{ value }]) }
}

/** A family of one series without labels. */
export function single(type: 'counter' | 'gauge', name: string, help: string, read: () => number | Promise<number>) {
  return { name, help, type, read: async () => [{ value: await read() }] } satisfies Family
}
