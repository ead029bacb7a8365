import { ChatError } from '../../core/errors.ts'

/** The error of a mailed link that is unknown, expired, used or revoked: which of them, no caller learns. */
export function worthless(): ChatError {
  return new ChatError('not_found', { message: 'This link has expired or was used: ask for a new one.' })
}
