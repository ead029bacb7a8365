import type { CallOutcome } from 'chat-server/client'
import { webhooksTexts } from '../texts/integrations.ts'
import { locale } from '../texts/texts.ts'

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const

/** How long an event waits, in the largest unit that it fills. */
export function lagOf(seconds: number): string {
  const [unit, length] = UNITS.find(([, each]) => seconds >= each) ?? UNITS[3]
  const format = new Intl.NumberFormat(locale.value, { style: 'unit', unit, unitDisplay: 'long' })
  return format.format(Math.floor(seconds / length))
}

/** What a call brought: the status, how long it took, and why it failed. */
export function outcomeText({ status, ms, error }: CallOutcome): string {
  const words = webhooksTexts.value
  const took = words.took(status, Math.round(ms))
  return error === undefined ? took : `${took}: ${words.failures[error] ?? error}`
}
