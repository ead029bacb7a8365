import { createCounter, type Family, sharedGauge } from './page.ts'

/** The outcomes of calls: `ok`, or why they failed. */
const OUTCOMES = ['ok', 'address_forbidden', 'dns', 'connect', 'tls', 'timeout', 'status', 'protocol']

/** What webhooks were not sent yet. */
export interface WebhookLevels {
  /** Events that wait for another attempt. */
  parked: number
  /** How long the oldest event waits, for its first attempt or another one. */
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
  const families = (levels: WebhookLevels | undefined): Family[] => [
    attempts.family,
    sharedGauge('chat_webhook_parked', 'Events that wait until a webhook is called again', levels?.parked),
    sharedGauge('chat_webhook_lag_seconds', 'How long the oldest event waits for a webhook', levels?.lag_seconds),
  ]
  return { called: (outcome: string) => attempts.add(outcome, 1), families }
}
