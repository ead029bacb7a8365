import { ChatError, setErrorTable } from './chat-error.ts'
import { MESSAGES, REASONS, STATUSES } from './error-table.ts'

export { ChatError, type ErrorDetails, type ErrorReason, type ExceededQuota, type FieldError } from './chat-error.ts'
export { type ErrorCode, MESSAGES, REASONS, STATUSES } from './error-table.ts'

setErrorTable({ statuses: STATUSES, messages: MESSAGES, reasons: REASONS })

/** A failure for one field of an input. */
export function invalid(path: string, message: string): ChatError {
  return new ChatError('validation_failed', { errors: [{ path, message }] })
}

/** A failure for a call of what the configuration turns off. @param key what turns it on */
export function turnedOff(key: string): ChatError {
  return new ChatError('not_found', { message: `This is turned off here, by ${key}.` })
}

/** `undefined` for what is not found. @throws every other failure */
export function unlessUnknown(error: unknown): undefined {
  if (error instanceof ChatError && error.code === 'not_found') return undefined
  throw error
}

/** The cause of a failure, for the log: for one with a general message, its `cause`. */
export function causeText(error: unknown): string {
  return String((error instanceof ChatError && error.cause) || error)
}
