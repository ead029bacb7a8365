import type { Context } from '../../context.ts'
import { type Actor, isOperator } from '../../core/actor.ts'
import { ChatError, causeText, type ErrorCode } from '../../core/errors.ts'
import { isReferenceGone, missingKeys } from '../../storage/errors.ts'
import { findUser } from './store.ts'
import { hasEndedAmong, listMerged } from './store-merged.ts'

/** A call that has failed. */
export interface FailedCall {
  actor: Actor | undefined
  /** What was given to it, also its input. */
  args: unknown[]
  /** The failures that its use-case names. */
  errors: readonly ErrorCode[]
}

/** The number of texts of a call that are looked at. */
const MAX_NAMES = 200

/** The longest text that is the id of a user, or that of the host. */
const MAX_NAME = 255

/**
 * Explains failures of calls that a merge, or an erasure, has overtaken: the account was there when the call began. Each
 * call asks here, so that no writer needs a lock of its own on the users that it names.
 *
 * @param ctx that of the call: in a transaction of the host it sees the users that are made there
 * @returns `unauthenticated` if the actor's own account is gone; `not_found` if another one is, and the use-case has this
 *   failure; else the failure as it is
 */
export async function explain(
  { db, log }: Pick<Context, 'db' | 'log'>,
  { actor, args, errors }: FailedCall,
  error: unknown,
): Promise<unknown> {
  const isGone = isReferenceGone(error)
  // Who was merged has no memberships any more, so that most calls answer this without a failure of the database.
  if (!isGone && !(error instanceof ChatError && ['not_found', 'forbidden'].includes(error.code))) return error
  const isUser = actor !== undefined && actor.system === undefined && !isOperator(actor)
  const hasEnded = async ({ user_id }: Actor) =>
    isGone ? !(await findUser(db, user_id)) : (await listMerged(db, [user_id])).length > 0
  // What cannot be looked up hides no failure.
  if (isUser && (await hasEnded(actor).catch(() => false))) return new ChatError('unauthenticated', { cause: error })
  if (!isGone || !errors.includes('not_found')) return error
  const names = [...missingKeys(error), ...namesIn(args)].slice(0, MAX_NAMES)
  if (!(await hasEndedAmong(db, names).catch(() => false))) return error
  log.warn('A call names a user that was deleted at the same time', { cause: causeText(error) })
  return new ChatError('not_found', { cause: error })
}

/** The texts of what a call was given that may name a user. */
function namesIn(value: unknown): string[] {
  if (typeof value === 'string') return value.length > 0 && value.length <= MAX_NAME ? [value] : []
  if (Array.isArray(value)) return value.slice(0, MAX_NAMES).flatMap(namesIn)
  const isPlain = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  return isPlain ? Object.values(value).flatMap(namesIn) : []
}
