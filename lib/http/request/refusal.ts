import { ChatError } from '../../core/errors.ts'

/** The message for a server key that calls what only accounts may. */
export const ACTS_FOR_NONE = 'A server key calls this in the name of an account: send Chat-Act-As.'

const NOT_VALID =
  'The key or token is not valid: it is unknown, revoked or expired, or was not sent as "Authorization: Bearer <key>".'

/** A failure of authentication as its caller needs it: a program that sent a key cannot sign in. */
export function toRefusal(error: ChatError, headers: Headers): ChatError {
  if (error.code !== 'unauthenticated' || !headers.has('authorization')) return error
  return new ChatError('unauthenticated', { message: NOT_VALID, cause: error })
}
