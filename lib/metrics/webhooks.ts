import { createCounter, type Family, single } from './page.ts'

/** The outcomes of calls: `ok`, or why they failed. */
const OUTCOMES = ['ok', 'address_forbidden', 'dns', 'connect', 'tls', 'timeout', 'status', 'protocol']

/** The state of the webhooks for which a process sends. */
export interface WebhookLevels {
  /** Events that wait for another attempt. */
  parked: number
  /** How long the oldest event waits that was not sent yet. */
  lag_seconds: number
}

/** Counters of the calls of webhooks. */
export function createWebhookMetrics() {
  const attempts = createCounter(
    'chat_webhook_attempts_total',
    'Calls of webhooks, by their outcome',
    'outcome',
    OUTCOMES,
  )
  const families = (levels: WebhookLevels): Family[] => [
    attempts.family,
    single('gauge', 'chat_webhook_parked', 'Events that wait until a webhook is called again', () => levels.parked),
    single(
      'gauge',
      'chat_webhook_lag_seconds',
      'How long the oldest event waits that no webhook was called with yet',
      () => levels.lag_seconds,
    ),
  ]
  return { called: (outcome: string) => attempts.add(outcome, 1), families }
}
