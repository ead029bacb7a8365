import { ChatError } from '../../lib/core/errors.ts'

/**
 * The instant that a flag names, a day as its midnight, UTC.
 *
 * @throws ChatError `validation_failed` for anything else: a command takes more than the interface does
 */
export function instantOf(flag: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const instant = /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text
  if (INSTANT.test(instant) && !Number.isNaN(Date.parse(instant))) return instant
  const message = 'must be a day (UTC) or an instant, such as 2027-06-30 or 2027-06-30T12:00:00Z'
  throw new ChatError('validation_failed', { errors: [{ path: flag, message }] })
}

const INSTANT = /^\d{4}-\d\d-\d\dT/
