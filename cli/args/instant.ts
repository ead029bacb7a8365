import { ChatError } from '../../lib/core/errors.ts'
import { INSTANT_PATTERNS } from '../../lib/core/schema.ts'

/**
 * The instant that a flag names, a day as its midnight, UTC.
 *
 * @throws ChatError `validation_failed` for anything else: a command takes more than the interface does
 */
export function instantOf(flag: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  if (INSTANT_PATTERNS.day.test(text)) return `${text}T00:00:00Z`
  if (INSTANT_PATTERNS.instant.test(text)) return text
  const message = 'must be a day (UTC) or an instant, such as 2027-06-30 or 2027-06-30T12:00:00Z'
  throw new ChatError('validation_failed', { errors: [{ path: flag, message }] })
}
