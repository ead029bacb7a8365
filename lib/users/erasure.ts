import { CANCELLED, endAnswer } from '../assistant/ending.ts'
import { listUnderWayFor } from '../assistant/store.ts'
import { byActor } from '../audit/rules.ts'
import { refuseKeys } from '../auth/rules.ts'
import type { Actor, Context } from '../context.ts'
import { enterUnattended } from '../conversations/access.ts'
import { depart } from '../conversations/departure.ts'
import { listPlaces } from '../conversations/store.ts'
import { revokeInvitesOf } from '../invites/revocation.ts'
import { disownInvites } from '../invites/store.ts'
import { forgetReasons } from '../messages/store.ts'
import { eraseTraces } from '../messages/traces.ts'
import { endSessions } from '../sessions/store.ts'
import { listTraces } from '../threads/store.ts'
import { takeAccount } from './accounts.ts'
import { assertAdmin, uniqueKey } from './rules.ts'
import { Erasure } from './schema.ts'
import { deleteUser, lockUsers, type UserRow, updateUser } from './store.ts'

/** What each use-case takes last. */
export const inputs = { erase: Erasure }

/** A conversation nobody is left in goes with all that is in it, as the account does in the end. */
const DELETING = { patient: true }

/** How many threads are looked through at a time for what somebody wrote. */
const THREADS_PAGE = 1_000

/** How many of the reasons somebody gave are forgotten in a transaction. */
const REASONS_PAGE = 200

/**
 * Erases a person: sessions, keys, identities and everything else that is theirs, and their place in every
 * conversation. What they wrote stays without an author, or is erased too.
 *
 * It takes many small transactions, so that others go on writing meanwhile; the account is shut in the first and gone
 * with the last. One that was cut short is finished by running it again.
 *
 * @throws ChatError `forbidden`, also with an API key; `not_found`; `conflict` for the last administrator
 */
export async function erase(ctx: Context, actor: Actor, userId: string, { messages }: Erasure): Promise<void> {
  assertAdmin(actor)
  refuseKeys(actor)
  const { email } = await shut(ctx, actor, userId)
  await ctx.write((tx) => disownInvites(tx, { user_id: userId, email_key: uniqueKey(email) }, ctx.now()))
  do {
    for (const { conversation_id } of await listPlaces(ctx.db, userId)) {
      await ctx.write((tx) => depart(ctx, tx, conversation_id, userId), DELETING)
    }
    await endAnswers(ctx, userId)
    await eraseMessages(ctx, userId, messages)
    await eraseReasons(ctx, userId)
    // A call that was let in before the account was shut may have joined something since.
  } while (!(await finish(ctx, actor, userId, messages)))
}

/** Lets the person in no more. */
function shut(ctx: Context, actor: Actor, userId: string): Promise<UserRow> {
  return ctx.write(async (tx) => {
    const user = await takeAccount(tx, actor, userId, { resigns: true })
    if (user.disabled_at === null) {
      await updateUser(tx, { ...user, disabled_at: ctx.now() }, ctx.now())
      tx.record({ act: 'user.disabled', ...byActor(actor), subject_id: userId })
    }
    await endSessions(tx, { user_id: userId })
    await revokeInvitesOf(ctx, tx, { user_id: userId }, byActor(actor))
    tx.recheckStreams()
    return user
  })
}

/** Stops what the assistant writes for them. */
async function endAnswers(ctx: Context, userId: string): Promise<void> {
  for (const answer of await listUnderWayFor(ctx.db, userId)) {
    await ctx.write(async (tx) => {
      if ((await enterUnattended(ctx, tx, answer.conversation_id)) !== undefined) await endAnswer(tx, answer, CANCELLED)
    })
    ctx.answers.cancelled(answer.message_id)
  }
}

/** Goes through all threads, since they may have left the conversation of some. */
async function eraseMessages(ctx: Context, userId: string, messages: Erasure['messages']): Promise<void> {
  let after = ''
  for (;;) {
    const page = await listTraces(ctx.db, userId, after, THREADS_PAGE)
    for (const thread of page.traces) await eraseTraces(ctx, thread, userId, messages)
    if (page.last === undefined) return
    after = page.last
  }
}

/** What they gave as reasons for deleting is not what they said to anybody: it goes in any case. */
async function eraseReasons(ctx: Context, userId: string): Promise<void> {
  while ((await ctx.write((tx) => forgetReasons(tx, userId, REASONS_PAGE))) === REASONS_PAGE);
}

/** Deletes the account. @returns false when there is something left to do */
async function finish(ctx: Context, actor: Actor, userId: string, messages: Erasure['messages']): Promise<boolean> {
  return ctx.write(async (tx) => {
    const [user] = await lockUsers(tx, [userId], { admins: false })
    // Somebody else has finished it.
    if (!user) return true
    if ((await listPlaces(tx, userId)).length > 0) return false
    // A call that was let in before the account was shut may have made another invite.
    await disownInvites(tx, { user_id: userId, email_key: uniqueKey(user.email) }, ctx.now())
    await deleteUser(tx, userId)
    tx.record({ act: 'user.erased', ...byActor(actor), subject_id: userId, detail: { messages } })
    tx.recheckStreams()
    return true
  }, DELETING)
}
