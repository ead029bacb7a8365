import { takeAccount } from '../accounts/administration/service.ts'
import { byActor } from '../accounts/audit/rules.ts'
import { findPerson } from '../accounts/identities/host-person.ts'
import { deleteInvitesTo, deleteMailedJoins } from '../accounts/mails/store.ts'
import { endMeans } from '../accounts/means/ending.ts'
import { revokeNewcomers } from '../accounts/sign-ups/revocation.ts'
import { Erasure } from '../accounts/users/schema.ts'
import { findUser, lockUsers, type UserRow } from '../accounts/users/store.ts'
import { listBotIds } from '../accounts/users/store-bots.ts'
import { deleteUser } from '../accounts/users/store-deleting.ts'
import { updateUser } from '../accounts/users/store-naming.ts'
import { CANCELLED, endAnswer } from '../chat/answers/ending.ts'
import { listUnderWayFor } from '../chat/answers/store.ts'
import { forgetAsker, forgetVoter } from '../chat/approvals/store-moving.ts'
import { eraseOwnPhoto, eraseUploads } from '../chat/attachments/erasure.ts'
import { forgetCaller } from '../chat/commands/store.ts'
import { wipeFeedback } from '../chat/feedback/store.ts'
import { anonymizeInvites } from '../chat/invites/store.ts'
import { lockAsSystem } from '../chat/memberships/access.ts'
import { listMemberships } from '../chat/memberships/store.ts'
import { forgetPairs } from '../chat/memberships/store-direct.ts'
import { createAuthorEraser } from '../chat/messages/erase-author.ts'
import { eraseMentions } from '../chat/messages/erase-mentions.ts'
import { forgetReasons } from '../chat/messages/store-erasing.ts'
import { deleteKeysOf } from '../chat/messages/store-idempotency.ts'
import { deleteTotalsOfUser, forgetUserOfEntries } from '../chat/metering/store-removing.ts'
import { eraseNotices } from '../chat/notices/ending.ts'
import { eraseFromInboxes } from '../chat/notifications/store-removing.ts'
import { removeErasedUser } from '../chat/participants/ending.ts'
import { erasePins } from '../chat/pins/erasure.ts'
import { eraseReactions } from '../chat/reactions/erasure.ts'
import { forgetSums } from '../chat/usage/store.ts'
import type { Context } from '../context.ts'
import { type Actor, assertAdmin, refuseKeys } from '../core/actor.ts'
import { uniqueKey } from '../core/characters.ts'
import { useCase } from '../core/use-case.ts'
import { deletePrivateEvents } from '../live/log/private.ts'
import type { Tx } from '../live/transaction/transaction.ts'
import { deleteMailsToUsers } from '../mail/store.ts'
import { inBatches, inPages, rowsAtOnce } from '../tasks/batches.ts'
import type { TaskOutcome, TaskRun } from '../tasks/runner.ts'
import { deleteErasedAuthor, findErasedAuthor, insertErasedAuthor } from './store.ts'

/** The time after which a task continues an interrupted call. */
const TAKEOVER_SECONDS = 15

/** The number of the user's idempotency keys deleted at a time. */
const KEYS_BATCH = 500

/** The number of direct conversations of a system actor that are closed at a time. */
const PAIRS_BATCH = 500

/** The number of answers to the user's commands that are changed at a time. */
const CALLS_BATCH = 500

/** The number of entries of usage that are changed at a time. */
const ENTRIES_BATCH = 500

/** The number of the user's notifications deleted at a time. */
const INBOX_BATCH = 500

/** The number of the user's ratings of answers deleted at a time. */
const FEEDBACK_BATCH = 500

/** The number of deletion reasons of the user deleted in a transaction. */
const REASONS_PAGE = 200

/**
 * Erases a user, named by id or by the host's own `{ subject }`: sessions, keys, identities and all other data of the
 * account, all memberships, and the user's bots. The user's messages stay without an author, or are erased too.
 *
 * From the first transaction on the account is locked, and no read returns the author, nor with `erase` the texts. The
 * account is deleted by the end of the call. A task processes the messages afterwards, and also finishes an interrupted
 * call.
 *
 * @throws ChatError `forbidden`, also with an API key; `not_found`; `conflict` for the last administrator
 */
export const erase = useCase({
  takes: ['actor', 'user'],
  input: Erasure,
  errors: ['not_found', 'conflict'],
  frees: 'half',
  run: async (ctx, actor, user, { messages }): Promise<void> => {
    assertAdmin(actor)
    refuseKeys(actor)
    const id = typeof user === 'string' ? user : (await findPerson(ctx.db, user.subject)).id
    await eraseAccount(ctx, actor, { id, messages, take: (tx) => takeAccount(tx, actor, id, { resigns: true }) })
  },
})

/** An account that is to be erased. */
interface ErasedAccount extends Erasure {
  id: string
  /** Locks it, and refuses what the actor may not erase. */
  take: (tx: Tx) => Promise<UserRow>
}

/** Erases an account, and the bots of its user. @throws ChatError as `take` */
export async function eraseAccount(ctx: Context, actor: Actor, { id, messages, take }: ErasedAccount): Promise<void> {
  await ctx.write(async (tx) => {
    await closeAccount(ctx, tx, actor, { user: await take(tx), messages, delay_seconds: TAKEOVER_SECONDS })
    for (const user of await lockUsers(tx, await listBotIds(tx, id), { admins: false }))
      await closeAccount(ctx, tx, actor, { user, messages, delay_seconds: 0 })
  })
  await removeData(ctx, id)
  await ctx.write(async (tx) => {
    // The task may have been faster.
    if (await findErasedAuthor(tx, id)) tx.enqueue({ kind: 'user.erase', key: id })
  })
}

/** Continues the erasure of a user whose account is locked: finishes the call, then processes the messages. */
export async function resume(ctx: Context, { key, detail, isOver }: TaskRun): Promise<TaskOutcome> {
  if (!(await findErasedAuthor(ctx.db, key))) return { done: true }
  await removeData(ctx, key)
  // Read only now, when it is final: before the account was deleted, another call could change it to `erase`.
  const author = (await findErasedAuthor(ctx.db, key))!
  const eraser = createAuthorEraser(ctx, author, detail)
  if (!(await inBatches(isOver, (size) => eraser.next(rowsAtOnce(ctx.db, size)))))
    return { done: false, detail: eraser.progress() }
  await ctx.write(async (tx) => {
    await deleteErasedAuthor(tx, key)
    // Only now: as long as there are messages of the user, they may be summed up again.
    await forgetSums(tx, 'user', key)
    tx.enqueue({ kind: 'storage.purge', key: '' })
  })
  return { done: true }
}

/** Locks an account, and hides its user as an author. A task does the rest after the delay, unless the call is faster. */
async function closeAccount(
  ctx: Context,
  tx: Tx,
  actor: Actor,
  { user, messages, delay_seconds }: Erasure & { user: UserRow; delay_seconds: number },
): Promise<void> {
  const userId = user.id
  if (user.disabled_at === null) {
    await updateUser(tx, { ...user, disabled_at: ctx.now() }, ctx.now())
    tx.audit({ act: 'user.disabled', ...byActor(actor), subject_id: userId })
  }
  await endMeans(ctx, tx, { user_id: userId }, 'erasure', { by: byActor(actor) })
  const isFirst = (await findErasedAuthor(tx, userId)) === undefined
  await insertErasedAuthor(tx, { user_id: userId, messages, erased_at: ctx.now() })
  tx.enqueue({ kind: 'user.erase', key: userId, delay_seconds })
  if (isFirst) tx.audit({ act: 'user.erased', ...byActor(actor), subject_id: userId, detail: { messages } })
}

/** Removes everything of the user but the messages, and deletes the account. */
async function removeData(ctx: Context, userId: string): Promise<void> {
  const user = await findUser(ctx.db, userId)
  if (!user) return
  await ctx.write((tx) => anonymizeInvites(tx, { user_id: userId, email_key: uniqueKey(user.email) }, ctx.now()))
  do {
    for (const { conversation_id } of await listMemberships(ctx.db, userId)) {
      await ctx.write((tx) => removeErasedUser(ctx, tx, conversation_id, userId))
    }
    await inPages(ctx.db, PAIRS_BATCH, (limit) => ctx.write((tx) => forgetPairs(tx, userId, limit)))
    await endAnswers(ctx, userId)
    await inPages(ctx.db, KEYS_BATCH, (limit) => ctx.write((tx) => deleteKeysOf(tx, userId, limit)))
    await eraseReasons(ctx, userId)
    await erasePins(ctx, userId)
    await eraseReactions(ctx, userId)
    await eraseMentions(ctx, userId)
    await eraseUploads(ctx, userId)
    await eraseNotices(ctx, userId)
    await inPages(ctx.db, ENTRIES_BATCH, (limit) => ctx.write((tx) => forgetUserOfEntries(tx, userId, limit)))
    await inPages(ctx.db, CALLS_BATCH, (limit) => ctx.write((tx) => forgetAsker(tx, userId, limit)))
    await inPages(ctx.db, CALLS_BATCH, (limit) => ctx.write((tx) => forgetVoter(tx, userId, limit)))
    await inPages(ctx.db, CALLS_BATCH, (limit) => ctx.write((tx) => forgetCaller(tx, userId, limit)))
    while (await ctx.write((tx) => eraseFromInboxes(tx, userId, rowsAtOnce(ctx.db, INBOX_BATCH))));
    await inPages(ctx.db, FEEDBACK_BATCH, (limit) => ctx.write((tx) => wipeFeedback(tx, userId, limit)))
    // A call that began before the account was locked may have joined a conversation since.
  } while (!(await deleteAccount(ctx, userId)))
}

/** Cancels the user's answers in progress. */
async function endAnswers(ctx: Context, userId: string): Promise<void> {
  for (const answer of await listUnderWayFor(ctx.db, userId)) {
    await ctx.write(async (tx) => {
      if ((await lockAsSystem(ctx, tx, answer.conversation_id)) !== undefined) await endAnswer(tx, answer, CANCELLED)
    })
    ctx.answers.ended(answer.message_id)
  }
}

/** Reasons of deletions are not messages to others: they are deleted in any case. */
async function eraseReasons(ctx: Context, userId: string): Promise<void> {
  await inPages(ctx.db, REASONS_PAGE, (limit) => ctx.write((tx) => forgetReasons(tx, userId, limit)))
}

/** @returns false when another step must run first */
async function deleteAccount(ctx: Context, userId: string): Promise<boolean> {
  return ctx.write(async (tx) => {
    const [user] = await lockUsers(tx, [userId], { admins: false })
    // Another call, or the task, has deleted it.
    if (!user) return true
    if ((await listMemberships(tx, userId)).length > 0) return false
    // A call that began before the account was locked may have created another invite.
    await anonymizeInvites(tx, { user_id: userId, email_key: uniqueKey(user.email) }, ctx.now())
    await deleteMailsToUsers(tx, userId)
    await deleteInvitesTo(tx, uniqueKey(user.email))
    await deleteMailedJoins(tx, userId, uniqueKey(user.email))
    await revokeNewcomers(tx, userId)
    await deletePrivateEvents(tx, userId)
    await forgetUserOfEntries(tx, userId, ENTRIES_BATCH)
    await deleteTotalsOfUser(tx, userId)
    await deleteUser(tx, userId)
    await eraseOwnPhoto(tx, user)
    tx.recheckStreams({ user_id: userId })
    return true
  })
}
