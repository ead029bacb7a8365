import type { UserKind } from '../accounts/users/rules.ts'
import { findUser } from '../accounts/users/store.ts'
import { toPairKey } from '../chat/memberships/rules.ts'
import { type ReadFloors, updateRole } from '../chat/memberships/store.ts'
import { findPair } from '../chat/memberships/store-direct.ts'
import { settleScopes } from '../chat/notifications/scopes.ts'
import { listNotified } from '../chat/unread/store-recounting.ts'
import type { Context } from '../context.ts'
import type { Access, ParticipantRole } from '../core/access.ts'
import type { NewEvent } from '../live/log/appending.ts'
import type { Tx } from '../live/transaction/transaction.ts'
import type { Micros } from '../storage/sql.ts'
import { mergedFloors, mergedMarks, mergedRole } from './rules.ts'
import { type Merge, type MergedPlace, setPair } from './store.ts'
import {
  countOneAuthorLess,
  findArrivalUpTo,
  listMemberPairs,
  listParticipations,
  type MemberPair,
  type MemberRow,
  moveFormer,
  moveParticipation,
  type Participation,
  putMembers,
  recount,
  relistAllRepliers,
} from './store-members.ts'
import { moveNotifications, readDirect, recountMentions } from './store-notifications.ts'

/** The two users, and how the one was called. */
interface NamedMerge extends Merge {
  from_name: string
}

/** The two users, and the messages that were moved. */
interface MovedMerge extends Merge {
  moved: ReadonlySet<string>
}

/** The participations of both users in a conversation. */
interface Both {
  from?: Participation
  into?: Participation
}

/**
 * Moves what a user has in conversations, which are locked: participations, marks, follows and notifications, and counts
 * anew what depends on them. Publishes the events.
 *
 * @returns the number of conversations in which the user participated
 */
export async function movePlaces(
  ctx: Pick<Context, 'access' | 'now'>,
  tx: Tx,
  users: NamedMerge,
  { places, messageIds }: { places: MergedPlace[]; messageIds: string[] },
): Promise<number> {
  const { from_id, into_id } = users
  const ids = places.map(({ id }) => id)
  const both = groupByPlace(await listParticipations(tx, users, ids), from_id)
  await moveMarks(tx, { ...users, moved: new Set(messageIds) }, await listMemberPairs(tx, users, ids), both)
  for (const [id, { from, into }] of both)
    if (from) await moveParticipation(tx, users, id, into && toMerged(ctx.access, from, into))
  await moveFormer(tx, users)
  await moveNotifications(tx, users, messageIds)
  const parted = await movePairs(ctx, tx, users, places)
  await recount(tx, ids, into_id)
  if (parted.length > 0) await recount(tx, parted)
  await recountMentions(tx, into_id, ids)
  for (const id of ids)
    for (const reader of await listNotified(tx, id, [into_id])) await settleScopes(tx, reader, undefined, ctx.now())
  tx.publishCounts([into_id])
  for (const place of places) if (place.deleted_at === null) announce(ctx, tx, users, place, both.get(place.id) ?? {})
  tx.recheckStreams({ user_id: from_id })
  return [...both.values()].filter(({ from }) => from).length
}

function groupByPlace(rows: readonly Participation[], from_id: string): Map<string, Both> {
  const both = new Map<string, Both>()
  for (const row of rows) {
    const place = both.get(row.conversation_id) ?? {}
    both.set(row.conversation_id, { ...place, [row.user_id === from_id ? 'from' : 'into']: row })
  }
  return both
}

function toMerged(access: Access, from: Participation, into: Participation) {
  return { ...mergedFloors(from, into), role: mergedRole(access, from.role, into.role) }
}

/** The events of a conversation: the one user has left it, the other one is in it, and what names the one names the other. */
function announce(
  ctx: Pick<Context, 'access' | 'now'>,
  tx: Tx,
  { from_id, into_id }: Merge,
  { id, clock }: MergedPlace,
  { from, into }: Both,
): void {
  const role = from && (into ? mergedRole(ctx.access, from.role, into.role) : from.role)
  const changed = (user_id: string, detail: NonNullable<NewEvent['detail']>): NewEvent => ({
    type: 'membership.changed',
    user_id,
    detail,
  })
  const events: NewEvent[] = [{ type: 'user.merged', user_id: into_id, detail: { from_user_id: from_id } }]
  if (from) events.push(changed(from_id, { action: 'removed' }))
  if (role && !into) events.push(changed(into_id, { role, action: 'added' }))
  if (into && role && role !== into.role) events.push(changed(into_id, { role, action: 'role_updated' }))
  tx.advanceClock(id, Math.max(ctx.now(), clock + 1))
  for (const event of events) tx.emit(id, event)
}

/**
 * Moves direct conversations. Where the other person has one with both, that of `from` becomes an ordinary one that is frozen.
 *
 * @returns the ids of those
 */
async function movePairs(
  ctx: Pick<Context, 'access' | 'now'>,
  tx: Tx,
  { from_id, into_id, from_name }: NamedMerge,
  places: readonly MergedPlace[],
): Promise<string[]> {
  const parted: string[] = []
  for (const { id, pair_key, deleted_at } of places) {
    const pair = pair_key?.split(':') ?? []
    if (deleted_at !== null || !pair.includes(from_id)) continue
    const other = pair.find((person) => person !== from_id) ?? into_id
    const next = toPairKey(into_id, other)
    if ((await findPair(tx, next)) === undefined) {
      await setPair(tx, id, { pair_key: next })
      continue
    }
    await setPair(tx, id, { title: from_name, frozen_at: ctx.now() })
    await readDirect(tx, id, [into_id, other], ctx.now())
    tx.publishCounts([other])
    await lowerRole(tx, id, other)
    tx.emit(id, { type: 'conversation.updated' })
    parted.push(id)
  }
  return parted
}

/** What users of these kinds, who own direct conversations as everybody does, are of an ordinary one at most. */
const HIGHEST_ROLES: Partial<Record<UserKind, ParticipantRole>> = { guest: 'member', bot: 'admin' }

/** Gives an owner of a conversation that is no longer direct the role that it may have there. */
async function lowerRole(tx: Tx, conversationId: string, userId: string): Promise<void> {
  const role = HIGHEST_ROLES[(await findUser(tx, userId))?.kind ?? 'person']
  if (!role) return
  await updateRole(tx, conversationId, userId, role)
  tx.emit(conversationId, { type: 'membership.changed', user_id: userId, detail: { role, action: 'role_updated' } })
}

/** Moves what a user has written, read and follows in threads. */
async function moveMarks(
  tx: Tx,
  users: MovedMerge,
  pairs: readonly MemberPair[],
  both: ReadonlyMap<string, Both>,
): Promise<void> {
  const rows: MemberRow[] = []
  for (const pair of pairs) rows.push(await toMember(tx, users, pair, both.get(pair.conversation_id) ?? {}))
  await putMembers(tx, users, rows)
  const wrote = pairs.filter(({ live_count }) => (live_count ?? 0) > 0)
  const bothWrote = wrote.filter(({ own_live_count }) => (own_live_count ?? 0) > 0)
  await countOneAuthorLess(
    tx,
    bothWrote.map(({ root_id }) => root_id),
  )
  await relistAllRepliers(
    tx,
    wrote.map(({ root_id }) => root_id),
  )
}

async function toMember(
  tx: Tx,
  { into_id, moved }: MovedMerge,
  pair: MemberPair,
  { from, into }: Both,
): Promise<MemberRow> {
  const floors: ReadFloors | undefined = from && into ? mergedFloors(from, into) : (from ?? into)
  const theirs = pair.is_member === 1 && {
    read_at: pair.read_at!,
    reopened_at: pair.reopened_at!,
    root_unread_at: pair.root_unread_at!,
    followed_at: pair.followed_at,
  }
  const own = pair.is_own_member === 1 && {
    read_at: pair.own_read_at!,
    reopened_at: pair.own_reopened_at!,
    root_unread_at: pair.own_root_unread_at!,
    followed_at: pair.own_followed_at,
  }
  const members = {
    from: { marks: theirs || undefined, floors: from, is_author: moved.has(pair.root_id) },
    into: {
      marks: own || undefined,
      floors: into,
      is_author: Number(pair.is_author) === 1 && !moved.has(pair.root_id),
    },
  }
  const { read_to, ...marks } = mergedMarks(pair.created_at, members, floors)
  const read_at: Micros =
    read_to === undefined ? marks.read_at : Math.max(marks.read_at, await findArrivalUpTo(tx, pair.root_id, read_to))
  const isReopened = marks.reopened_at > 0 || marks.root_unread_at > 0
  const { root_id, conversation_id, listed_in, listed_at, news_at } = pair
  return {
    root_id,
    user_id: into_id,
    live_count: (pair.live_count ?? 0) + (pair.own_live_count ?? 0),
    ...marks,
    read_at,
    marked_in: read_at > 0 ? conversation_id : null,
    reopened_in: isReopened ? conversation_id : null,
    ...(floors ? { listed_in, listed_at, news_at } : { listed_in: null, listed_at: null, news_at: null }),
  }
}
