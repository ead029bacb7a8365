import { createHistogram } from './histogram.ts'
import { createCounter, type Family, single } from './page.ts'

const POLL_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1]
const CONVERSATION_BUCKETS = [0, 1, 10, 100, 1_000]
const LAG_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 5]

/** Where delivered events were committed: by this process, or by another one. */
export type Source = 'own' | 'other'

/** The metrics of processes that share a database. */
export function createClusterMetrics() {
  const poll = createHistogram<never>(
    'chat_bus_poll_seconds',
    'Time of one look at what other processes have sent, or committed',
    POLL_BUCKETS,
  )
  const newConversations = createHistogram<never>(
    'chat_bus_new_conversations',
    'Conversations with new events that one poll of the log found',
    CONVERSATION_BUCKETS,
  )
  const lag = createHistogram<'source'>(
    'chat_delivery_lag_seconds',
    'Time from the commit of events, of this process or of another one, to their delivery to streams',
    LAG_BUCKETS,
  )
  const lags: Record<Source, (seconds: number) => void> = {
    own: lag.of({ source: 'own' }),
    other: lag.of({ source: 'other' }),
  }
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
    newConversations.family,
    sent.family,
    dropped.family,
    lag.family,
  ]
  return { poll, newConversations, lags, sent, dropped, families }
}
