import type { Usage } from '../answers/schema.ts'
import { countTokens, isCounted, type Tokens } from './rules.ts'

/** What the steps of an answer have used. */
export interface Spent extends Tokens {
  steps: number
  /** Whether a part of it is estimated. */
  estimated: boolean
  /** As the provider has counted it; missing while it has counted nothing. */
  usage?: Usage | undefined
  /** The bytes of the texts of these steps. */
  bytes: number
}

export const NOTHING_SPENT: Spent = {
  steps: 0,
  estimated: false,
  bytes: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  cached_tokens: 0,
  reasoning_tokens: 0,
}

const COUNTS = ['prompt_tokens', 'completion_tokens', 'cached_tokens', 'reasoning_tokens'] as const

/**
 * Adds a step.
 *
 * @param step.bytes of the whole text so far
 * @param step.prompt the bytes that the provider got, if it has not counted them
 */
export function addStep(
  spent: Spent,
  { usage, bytes, prompt }: { usage: Usage | undefined; bytes: number; prompt: number },
): Spent {
  const counted = countTokens(usage, { prompt, answer: Math.max(0, bytes - spent.bytes) })
  const sums = Object.fromEntries(COUNTS.map((name) => [name, spent[name] + counted[name]])) as unknown as Tokens
  return {
    ...sums,
    steps: spent.steps + 1,
    estimated: spent.estimated || counted.estimated,
    usage: addUsage(spent.usage, usage),
    bytes,
  }
}

/** Whether the bytes of the prompt are needed to count a step. */
export const needsEstimate = (usage: Usage | undefined): boolean => !isCounted(usage)

function addUsage(one: Usage | undefined, other: Usage | undefined): Usage | undefined {
  if (!one || !other) return one ?? other
  const names = new Set([...Object.keys(one), ...Object.keys(other)]) as Set<keyof Usage>
  return Object.fromEntries([...names].map((name) => [name, (one[name] ?? 0) + (other[name] ?? 0)]))
}
