import { byActor } from '../accounts/audit/rules.ts'
import { findPerson } from '../accounts/identities/host-person.ts'
import { endMeans } from '../accounts/means/ending.ts'
import { photosOf } from '../accounts/users/photos.ts'
import { administers } from '../accounts/users/rules.ts'
import { findUser, lockUsers, toUser, type UserRow } from '../accounts/users/store.ts'
import { deleteUser } from '../accounts/users/store-deleting.ts'
import { findMergedSubject, insertMerged, listMerged, type MergedUser } from '../accounts/users/store-merged.ts'
import { findSubjects } from '../accounts/users/store-subjects.ts'
import { isSystemUser } from '../accounts/users/store-system.ts'
import { moveApprovals } from '../chat/approvals/store-moving.ts'
import { eraseOwnPhoto } from '../chat/attachments/erasure.ts'
import { moveFeedback } from '../chat/feedback/store.ts'
import { composeReactionLists } from '../chat/messages/store-reactions.ts'
import { moveUsage } from '../chat/metering/store-removing.ts'
import type { Context } from '../context.ts'
import { type Actor, assertOperator } from '../core/actor.ts'
import { ChatError } from '../core/errors.ts'
import { useCase } from '../core/use-case.ts'
import { findErasedAuthor } from '../erasure/store.ts'
import type { Tx } from '../live/transaction/transaction.ts'
import type { Queries } from '../storage/database.ts'
import { isTaken } from '../storage/errors.ts'
import { movePlaces } from './places.ts'
import { MAX_CONVERSATIONS, MAX_MESSAGES } from './rules.ts'
import { type Merged, type MergedPerson, MergeInput } from './schema.ts'
import {
  listPlaceIds,
  lockPlaces,
  type Merge,
  moveBelongings,
  moveCalls,
  moveChats,
  moveInvites,
  moveSums,
} from './store.ts'
import { listOwnMessages, moveActs, moveMentions, moveMessages, moveReactions } from './store-messages.ts'

/** How often a merge begins anew because one of the two has joined a conversation meanwhile. */
const MAX_ATTEMPTS = 10

/**
 * Makes one user of two: everything of `from` becomes that of `into`, in one transaction, and `from` is deleted. Its means
 * of access end. The same merge again returns the same.
 *
 * @throws ChatError `forbidden` unless the actor is the operator; `not_found`; `conflict` if the two are one, `from` is an
 *   administrator, a bot or a part of the host, or has too much, or `into` is a guest, disabled, a bot or a part of the host
 */
export const merge = useCase({
  takes: ['actor'],
  input: MergeInput,
  errors: ['forbidden', 'not_found', 'conflict', 'validation_failed'],
  run: async (ctx, actor, { from, into }): Promise<Merged> => {
    assertOperator(actor)
    const into_id = await findId(ctx.db, into)
    const done = await findMerge(ctx.db, from)
    if (done) return repeated(ctx, done, into_id)
    return mergeUsers(ctx, actor, { from_id: await findId(ctx.db, from), into_id })
  },
})

async function findId(db: Queries, person: MergedPerson): Promise<string> {
  return 'user_id' in person ? person.user_id : (await findPerson(db, person.subject)).id
}

/** The merge of a user who exists no longer. */
async function findMerge(db: Queries, from: MergedPerson): Promise<MergedUser | undefined> {
  if ('user_id' in from) return (await listMerged(db, [from.user_id]))[0]
  const user = await findPerson(db, from.subject).catch(() => undefined)
  return user ? undefined : findMergedSubject(db, from.subject)
}

/** What the merge has returned. @throws ChatError `not_found` if the user was merged into another one */
export async function repeated(
  { config, db }: Pick<Context, 'config'> & { db: Queries },
  { into_id, messages, conversations }: MergedUser,
  id: string,
): Promise<Merged> {
  const user = into_id === id ? await findUser(db, id) : undefined
  if (!user) throw new ChatError('not_found')
  return { user: toUser(user, photosOf(config)), moved: { messages, conversations } }
}

/** Merges two users. @throws ChatError as {@link merge} */
export async function mergeUsers(ctx: Context, actor: Actor, users: Merge): Promise<Merged> {
  if (users.from_id === users.into_id) throw new ChatError('conflict', { message: 'The two users are one.' })
  for (let left = MAX_ATTEMPTS; left > 0; left--) {
    const merged = await ctx
      .write((tx) => mergeIn(ctx, tx, actor, users))
      // Another call has opened the same direct conversation meanwhile.
      .catch((error) => (isTaken(error) && left > 1 ? undefined : Promise.reject(error)))
    if (merged) return merged
  }
  throw new ChatError('conflict', { message: 'The user joins conversations at the same time: try again.' })
}

/** @returns `undefined`, with nothing changed, if the user has joined a conversation since those of the user were locked */
async function mergeIn(ctx: Context, tx: Tx, actor: Actor, users: Merge): Promise<Merged | undefined> {
  const { from_id, into_id } = users
  const places = await lockPlaces(tx, from_id, MAX_CONVERSATIONS + 1)
  if (places.length > MAX_CONVERSATIONS) throw new ChatError('conflict', { message: TOO_MUCH })
  const rows = await lockUsers(tx, [from_id, into_id], { admins: false })
  const [done] = await listMerged(tx, [from_id])
  if (done) return repeated({ config: ctx.config, db: tx }, done, into_id)
  const { from, into } = await check(tx, users, rows)
  const ids = places.map(({ id }) => id)
  if (!isSame(ids, await listPlaceIds(tx, from_id))) return undefined
  const messageIds = await listOwnMessages(tx, from_id, ids, MAX_MESSAGES + 1)
  if (messageIds.length > MAX_MESSAGES) throw new ChatError('conflict', { message: TOO_MUCH })
  await moveMessages(tx, users, messageIds)
  await moveActs(tx, users, ids)
  const mentioning = await moveMentions(tx, users, ids)
  await composeReactionLists(tx, await moveReactions(tx, users))
  await moveBelongings(tx, users)
  await moveCalls(tx, users)
  await moveApprovals(tx, users)
  await moveFeedback(tx, users)
  await moveInvites(tx, users, ids)
  await moveChats(tx, users)
  await moveSums(tx, users)
  await moveUsage(tx, users)
  const conversations = await movePlaces(ctx, tx, { ...users, from_name: nameOf(from) }, { places, messageIds })
  // The index has the author as a word.
  ctx.search.noteMessages(tx, [...new Set([...messageIds, ...mentioning])])
  await endMeans(ctx, tx, { user_id: from_id }, 'merge', { by: byActor(actor) })
  const subject = (await findSubjects(tx, [from_id])).get(from_id) ?? null
  const moved = { messages: messageIds.length, conversations }
  // Before the user is deleted, and with it what names the user as the target of a merge.
  await insertMerged(tx, {
    from_id,
    into_id,
    subject,
    token_hash: users.token_hash ?? null,
    merged_at: ctx.now(),
    ...moved,
  })
  await deleteUser(tx, from_id)
  await eraseOwnPhoto(tx, from)
  tx.audit({ act: 'user.merged', ...byActor(actor), subject_id: into_id, detail: { user_id: from_id, ...moved } })
  return { user: toUser(into, photosOf(ctx.config)), moved }
}

/** @throws ChatError `not_found`, `conflict` unless these users may be merged */
async function check(tx: Queries, { from_id, into_id }: Merge, rows: UserRow[]) {
  const from = rows.find(({ id }) => id === from_id)
  const into = rows.find(({ id }) => id === into_id)
  if (!from || !into) throw new ChatError('not_found', { message: 'There is no such user.' })
  if (administers(from))
    throw new ChatError('conflict', { message: 'An administrator is not merged into another user.' })
  for (const id of [from_id, into_id])
    if (await isSystemUser(tx, id)) throw new ChatError('conflict', { message: 'A part of the host is not merged.' })
  if (from.kind === 'bot' || into.kind === 'bot') throw new ChatError('conflict', { message: 'A bot is not merged.' })
  if (into.kind === 'guest') throw new ChatError('conflict', { reason: 'guest', message: 'No user becomes a guest.' })
  if (into.disabled_at !== null) throw new ChatError('conflict', { message: 'The user is disabled.' })
  for (const id of [from_id, into_id])
    if (await findErasedAuthor(tx, id)) throw new ChatError('conflict', { message: 'The user is being erased.' })
  return { from, into }
}

const TOO_MUCH = `At most ${MAX_MESSAGES} messages and ${MAX_CONVERSATIONS} conversations of a user are moved.`

const nameOf = ({ display_name, username }: UserRow) => display_name || username

function isSame(ids: readonly string[], others: readonly string[]): boolean {
  const set = new Set(ids)
  return set.size === others.length && others.every((id) => set.has(id))
}
