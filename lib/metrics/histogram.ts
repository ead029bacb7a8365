import type { Metric, Registry } from 'prom-client'

/** A histogram whose series are found once, not at every observation. */
export interface Histogram<Label extends string> {
  /** The series of these labels, made if need be; hold on to what it returns. */
  of(labels: Record<Label, string>): (seconds: number) => void
}

/** One series: how many observations fell into each bucket, the last one being `+Inf`. */
interface Series {
  labels: Record<string, string>
  counts: number[]
  sum: number
}

/**
 * A histogram of durations on the registry's page.
 *
 * prom-client's own looks its series up by a text made of all labels: 1.2 µs each time, 5 % of what a post costs. This
 * one costs 20 ns, and is rendered by prom-client all the same.
 *
 * @param buckets upper bounds in seconds, rising
 */
export function createHistogram<Label extends string>(
  registry: Registry,
  { name, help, buckets }: { name: string; help: string; buckets: readonly number[] },
): Histogram<Label> {
  const all = new Map<string, Series>()
  const metric = {
    name,
    get: async () => ({ name, help, type: 'histogram', values: [...all.values()].flatMap(toValues) }),
  }
  const toValues = ({ labels, counts, sum }: Series) => {
    let count = 0
    const bars = counts.map((each, index) => {
      count += each
      return { metricName: `${name}_bucket`, labels: { ...labels, le: buckets[index] ?? '+Inf' }, value: count }
    })
    return [
      ...bars,
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: count },
    ]
  }
  // The registry asks a metric for its name and its values only, and its types know none but its own.
  registry.registerMetric(metric as unknown as Metric)
  return {
    of(labels) {
      const key = JSON.stringify(labels)
      const series = all.get(key) ?? { labels, counts: Array.from({ length: buckets.length + 1 }, () => 0), sum: 0 }
      all.set(key, series)
      return (seconds) => {
        let index = 0
        while (index < buckets.length && seconds > buckets[index]!) index++
        series.counts[index]!++
        series.sum += seconds
      }
    },
  }
}
