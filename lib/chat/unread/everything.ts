import type { Tx } from '../../live/transaction/transaction.ts'
import type { Micros } from '../../storage/sql.ts'
import { setUnread } from '../../storage/unread-counts.ts'
import { settleScopes } from '../notifications/scopes.ts'
import { readEverythingIn, readInConversation } from '../notifications/store-reading.ts'
import { sumStored } from './store.ts'
import { findNewestUpTo, listReadPlaces, type ReadPlace, setEverythingRead } from './store-everything.ts'
import { setAllRead } from './store-floors.ts'

/** What marks of everything have changed. */
export interface EverythingRead {
  /** The conversations in which messages became read. */
  moved: ReadPlace[]
  /** The notifications that became read. */
  notifications: string[]
  /** Whether others have changed. */
  has_changed_notifications: boolean
  /** The conversations with later messages for which `limit` had no room. */
  rest: string[]
}

/** A mark of everything that arrived up to an instant. */
interface Mark {
  up_to: Micros
  /** Up to when notifications of being added to a conversation are read. */
  added_to: Micros
  now: Micros
  /** How many conversations with later messages are marked at most: each of them takes several statements. */
  limit?: number
}

/**
 * Marks all messages of a user's conversations as read that arrived up to an instant, and their notifications. The
 * conversations are locked. Where nothing is later, it takes the same few statements for any number of conversations.
 */
export async function readEverything(
  tx: Tx,
  userId: string,
  conversationIds: readonly string[],
  { up_to, added_to, now, limit = Number.POSITIVE_INFINITY }: Mark,
): Promise<EverythingRead> {
  const places = await listReadPlaces(tx, userId, conversationIds)
  const whole = places.filter(({ newest }) => newest <= up_to)
  const parts = places.filter(({ newest }) => newest > up_to)
  const read: EverythingRead = {
    moved: whole.filter(({ is_unread }) => is_unread === 1),
    notifications: [],
    has_changed_notifications: false,
    rest: parts.slice(limit).map(({ conversation_id }) => conversation_id),
  }
  if (whole.length > 0) {
    const ids = whole.map(({ conversation_id }) => conversation_id)
    await setEverythingRead(tx, userId, ids)
    read.notifications = await readEverythingIn(tx, userId, ids, { added_to, now })
  }
  for (const place of parts.slice(0, limit)) await readPart(tx, place, { up_to, added_to, now }, read)
  return read
}

/** Marks what arrived up to an instant in a conversation with later messages. Costs as what is unread then. */
async function readPart(tx: Tx, place: ReadPlace, { up_to, added_to, now }: Mark, read: EverythingRead): Promise<void> {
  const at = await findNewestUpTo(tx, place.conversation_id, up_to)
  read.notifications.push(...(await readInConversation(tx, place, { scope: 'all', at, added_to }, now)))
  if (at > place.joined_at) {
    const reader = await setAllRead(tx, place, { at, marked_at: place.clock })
    if (await setUnread(tx, place, await sumStored(tx, reader))) read.moved.push(place)
  }
  const { ids, isOther } = await settleScopes(tx, place, undefined, now)
  read.notifications.push(...ids)
  read.has_changed_notifications ||= isOther
}
