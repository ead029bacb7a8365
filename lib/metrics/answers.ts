import { createHistogram } from './histogram.ts'
import { createCounter, single } from './page.ts'

const DELTA_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export const TOKENS = ['prompt', 'completion'] as const
const OUTCOMES = ['complete', 'failed', 'interrupted', 'cancelled']
const CALL_ENDS = ['done', 'failed', 'denied', 'expired', 'unknown', 'cancelled']

/** The metrics of the assistant. */
export function createAnswerMetrics() {
  const firstDelta = createHistogram<never>(
    'chat_assistant_first_delta_seconds',
    'Time from a question to the first piece of its answer',
    DELTA_BUCKETS,
  )
  const answered = createCounter(
    'chat_assistant_answers_total',
    'Answers of the assistant that ended, by outcome',
    'outcome',
    OUTCOMES,
  )
  const used = createCounter(
    'chat_assistant_tokens_total',
    'Tokens of answers of the assistant, estimated where the provider has not counted them',
    'kind',
    TOKENS,
  )
  const spent = createCounter(
    'chat_assistant_cost_micros_total',
    'What answers of the assistant cost by the configured prices, in millionths of the currency',
  )
  const called = createCounter(
    'chat_assistant_tool_calls_total',
    'Calls of tools that ended in this process, by outcome',
    'outcome',
    CALL_ENDS,
  )
  const families = (running: () => number) => [
    firstDelta.family,
    answered.family,
    used.family,
    spent.family,
    called.family,
    single('gauge', 'chat_assistant_running', 'Answers being written', running),
  ]
  return { firstDelta, answered, used, spent, called, families }
}
