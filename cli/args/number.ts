import { UsageError } from './command.ts'

/** The number given with a flag; `undefined` without the flag. @throws UsageError for anything else */
export function parseNumber<T extends string | undefined>(flag: string, text: T): T extends string ? number : undefined
export function parseNumber(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const number = Number(text)
  if (text.trim() === '' || !Number.isFinite(number)) throw new UsageError(`--${flag} needs a number, not "${text}"`)
  return number
}
