import { createHistogram } from './histogram.ts'
import { createCounter, type Family, single } from './page.ts'

const POLL_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1]

/** The metrics of processes that share a database. */
export function createClusterMetrics() {
  const poll = createHistogram<never>(
    'chat_bus_poll_seconds',
    'Time of one look at what other processes have sent',
    POLL_BUCKETS,
  )
  const sent = createCounter('chat_signals_sent_total', 'Ephemeral events passed on to other processes')
  const dropped = createCounter('chat_signals_dropped_total', 'Ephemeral events that could not be passed on')
  const nodes = (count: number): Family => ({
    ...single('gauge', 'chat_nodes', 'Processes that share the database', () => count),
    // Each counts all of them.
    together: 'max',
  })
  const families = (levels: { nodes: number }): Family[] => [
    nodes(levels.nodes),
    poll.family,
    sent.family,
    dropped.family,
  ]
  return { poll, sent, dropped, families }
}
