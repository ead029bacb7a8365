import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { addSeen, countThread } from '../../storage/unread-counts.ts'
import type { LockedForChange } from '../memberships/access.ts'
import type { ParticipantSettings } from '../memberships/rules-settings.ts'
import { findPolicy } from '../memberships/store-settings.ts'
import { lookUpMentions } from '../mentions/lookup.ts'
import {
  decideMentions,
  type KnownParticipants,
  type Mentioned,
  mentionsWanted,
  originsWithout,
} from '../mentions/rules.ts'
import { keptMentions } from '../mentions/rules-kept.ts'
import { findOrigins, listAllParticipants, replaceMentions } from '../mentions/store.ts'
import { isForTask, notifyAllLater } from '../notifications/all.ts'
import { createNotificationBatch } from '../notifications/batch.ts'
import { isToldDirectly, mentionSilently, withdraw } from '../notifications/changing.ts'
import { giveWay } from '../notifications/scopes.ts'
import { changeKind, listNotified, reinstate } from '../notifications/store-changes.ts'
import { makeNotifications } from '../notifications/store-making.ts'
import { publishFollowed } from '../unread/publishing.ts'
import { followMentioned } from '../unread/store-follows.ts'
import { listThreadsFor } from '../unread/store-listing.ts'
import type { Edit } from './schema.ts'
import type { MessageRow } from './store.ts'
import { listRepliedTo } from './store-quotes.ts'

const NO_MENTIONS = { user_ids: [], all: false }
const NOT_KNOWN: KnownParticipants = { idOf: new Map(), participating: new Map(), participants: 0 }

/** The users that a message mentions, without what they come from. */
type MentionedUsers = Omit<Mentioned, 'origins'>

/**
 * Decides again which users an edited message mentions. Names of the old text keep their meaning, and so do mentions that the
 * author named by id, unless the edit names others so. Added persons are notified, once for a message; removed ones lose an
 * unread notification. The text of an answer mentions no user.
 */
export async function editMentions(
  ctx: Pick<Context, 'access' | 'config' | 'id'>,
  tx: Tx,
  message: MessageRow,
  place: LockedForChange & { actor: Actor },
  input: Pick<Edit, 'content' | 'mentions'>,
): Promise<void> {
  if (message.role === 'assistant' && !input.mentions) return
  const before = mentionedBy(message)
  const stored = before === NO_MENTIONS && !message.content.includes('@') ? null : await findOrigins(tx, message.id)
  const { known, after } = await decide(ctx, tx, message, place, { ...input, stored })
  const added = after.user_ids.filter((id) => !before.user_ids.includes(id))
  const removed = before.user_ids.filter((id) => !after.user_ids.includes(id))
  const isSame = added.length + removed.length === 0 && before.all === after.all
  if (!isSame || stored !== null || after.origins !== null) await replaceMentions(tx, message.id, after, place.at)
  if (isSame) return

  if (added.length > 0 && place.is_direct === 0) await followMentionedIn(tx, message, added)
  const changed = await changeNotifications(ctx, tx, message, place, { before, after, added, removed })
  tx.publishCounts(changed)
  const persons = added.flatMap((id) => known.participating.get(id) ?? [])
  const isForAll = after.all && !before.all
  const isLater = isForAll && isForTask(known.participants)
  if (isLater) notifyAllLater(tx, message, place.at)
  await notifyAdded(ctx, tx, message, place, { persons, all: isForAll && !isLater })
  if (added.length > 0 || isForAll) tx.publishCounts(await giveWay(tx, message))
}

/** Lets users that a stored message mentions from now on follow the thread, from the message on. */
export async function followMentionedIn(
  tx: Tx,
  { conversation_id, root_id, created_at: at }: MessageRow,
  userIds: string[],
) {
  const users = userIds.map((user_id) => ({ root_id, conversation_id, user_id, at }))
  const added = await followMentioned(tx, users)
  await listThreadsFor(tx, added)
  for (const reader of added) {
    await addSeen(tx, reader, { followed: -(await countThread(tx, reader, root_id)).followed })
    await publishFollowed(tx, reader, root_id, true)
  }
}

/** Changes the kinds of the notifications of the message, and takes back and brings back some. @returns their users */
async function changeNotifications(
  ctx: Pick<Context, 'id'>,
  tx: Tx,
  message: MessageRow,
  { is_direct }: LockedForChange,
  {
    before,
    after,
    added,
    removed,
  }: { before: MentionedUsers; after: MentionedUsers; added: string[]; removed: string[] },
): Promise<string[]> {
  for (const from of ['mention_all', 'reply'] as const) await changeKind(tx, message.id, added, { from, to: 'mention' })
  const repliedTo = await listRepliedTo(tx, message)
  const replied = removed.filter((id) => repliedTo.has(id))
  await changeKind(tx, message.id, replied, { from: 'mention', to: 'reply' })
  if (after.all) await changeKind(tx, message.id, removed, { from: 'mention', to: 'mention_all' })

  const changed: string[] = []
  if (removed.length > 0)
    changed.push(...(await withdraw(tx, message, { kind: 'mention', user_ids: removed }, ctx.id())))
  if (before.all && !after.all) changed.push(...(await withdraw(tx, message, { kind: 'mention_all' }, ctx.id())))
  if (added.length > 0) changed.push(...(await reinstate(tx, message, { kind: 'mention', user_ids: added })))
  if (after.all && !before.all) changed.push(...(await reinstate(tx, message, { kind: 'mention_all' })))
  const kind = added.length > 0 ? 'mention' : 'mention_all'
  if (is_direct === 1 && (added.length > 0 || (after.all && !before.all)))
    changed.push(...(await mentionSilently(tx, message, kind)))
  return changed
}

function mentionedBy({ mention_all, mentioned }: MessageRow): MentionedUsers {
  return mention_all === null ? NO_MENTIONS : { user_ids: mentioned?.split(',') ?? [], all: mention_all === 1 }
}

async function decide(
  ctx: Pick<Context, 'access' | 'config'>,
  tx: Tx,
  message: MessageRow,
  { actor, role }: LockedForChange & { actor: Actor },
  { stored, ...input }: Pick<Edit, 'content' | 'mentions'> & { stored: string | null },
): Promise<{ known: KnownParticipants; after: Mentioned }> {
  const { conversation_id } = message
  const kept = input.mentions ? undefined : keptMentions(message, stored)
  const wanted = mentionsWanted(input, kept)
  if (!wanted) return { known: NOT_KNOWN, after: { ...NO_MENTIONS, origins: originsWithout(input) } }
  const participants = (await lookUpMentions(tx, [{ n: 0, conversation_id, parent_id: null, wanted }])).get(0)!
  const policy = await findPolicy(tx, conversation_id)
  const after = decideMentions(ctx, wanted, participants, { actor, role, ...policy })
  return { known: participants, after }
}

/** Notifies the users who were not notified of the message before. */
async function notifyAdded(
  ctx: Pick<Context, 'config' | 'id'>,
  tx: Tx,
  message: MessageRow,
  { at, is_direct }: LockedForChange,
  { persons, all }: { persons: ParticipantSettings[]; all: boolean },
): Promise<void> {
  if (persons.length === 0 && !all) return
  // A direct conversation has two participants.
  if (is_direct === 1 && (await isToldDirectly(tx, message))) return
  const { id, conversation_id, root_id } = message
  const notified = await listNotified(tx, id)
  const isNew = ({ user_id }: ParticipantSettings) => !notified.has(user_id)
  const { default_level } = ctx.config.notifications
  const batch = createNotificationBatch({ id: ctx.id, default_level })
  const place = { id, conversation_id, root_id, at, is_direct, author: message.posted_by! }
  batch.add({ ...place, replied_to: [], persons: persons.filter(isNew), mentions_all: all })
  if (all) batch.addAll((await listAllParticipants(tx, [conversation_id])).filter(isNew))
  const { made } = batch.list()
  if (made.length > 0) tx.notify(makeNotifications(tx, made))
}
