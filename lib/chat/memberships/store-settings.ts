import { fromInstant, toInstant } from '../../core/time.ts'
import type { Queries } from '../../storage/database.ts'
import { onRows } from '../../storage/on-rows.ts'
import { assignments, type Micros, sql } from '../../storage/sql.ts'
import type { ConversationSettings, ConversationSettingsChange, Level } from '../conversations/schema-settings.ts'
import { FOREVER, isMuted, levelOf, type PolicyColumns, type SettingsColumns } from './rules-settings.ts'

/**
 * The settings of a participant; `undefined` for another user. By primary key.
 *
 * @param options.lock no other transaction changes them until this one ends. The conversation is locked, too: a post reads
 * which participants have archived it, and ends that.
 */
export function findSettings(
  db: Queries,
  conversationId: string,
  userId: string,
  options: { lock?: boolean } = {},
): Promise<(SettingsColumns & { unread_mentions: number }) | undefined> {
  const lock = options.lock && db.dialect === 'postgresql' ? sql`FOR UPDATE OF c, p` : sql``
  return db.get<SettingsColumns & { unread_mentions: number }>(
    sql`SELECT c.is_direct, p.level, p.muted_until, p.archived, p.favourite, p.receipts, p.unread_mentions
       FROM participants p JOIN conversations c ON c.id = p.conversation_id
      WHERE p.conversation_id = ${conversationId} AND p.user_id = ${userId} AND c.deleted_at IS NULL ${lock}`,
  )
}

/** A participant of a conversation. */
interface Place {
  conversation_id: string
  user_id: string
}

const SETTINGS_OF = onRows<Place>(
  { conversation_id: 'text', user_id: 'text' },
  (given) =>
    sql`SELECT p.conversation_id, p.user_id, c.is_direct, p.level, p.muted_until, p.archived, p.favourite, p.receipts
       FROM ${given} CROSS JOIN participants p
       JOIN conversations c ON c.id = p.conversation_id AND c.deleted_at IS NULL
      WHERE p.conversation_id = given.conversation_id AND p.user_id = given.user_id`,
)

/** The settings of these participants, in no order. By primary keys. */
export function listSettings(db: Queries, places: Place[]): Promise<(SettingsColumns & Place)[]> {
  return SETTINGS_OF.all(db, places)
}

/** What decides the policy of a conversation. By primary key. */
export async function findPolicy(db: Queries, conversationId: string): Promise<PolicyColumns> {
  return (await db.get<PolicyColumns>(sql`SELECT is_direct, policy FROM conversations WHERE id = ${conversationId}`))!
}

/** Changes the given settings of a participant. */
export async function updateSettings(
  tx: Queries,
  conversationId: string,
  userId: string,
  changes: Partial<SettingsColumns>,
): Promise<void> {
  if (Object.keys(changes).length === 0) return
  await tx.run(
    sql`UPDATE participants SET ${assignments({ ...changes })}
      WHERE conversation_id = ${conversationId} AND user_id = ${userId}`,
  )
}

/** The number of favourites of a user. By the index `favourites`. */
export async function countFavourites(db: Queries, userId: string): Promise<number> {
  const row = await db.get<{ count: number }>(
    sql`SELECT count(*) AS count FROM participants p JOIN conversations c ON c.id = p.conversation_id
      WHERE p.user_id = ${userId} AND p.favourite = 1 AND c.deleted_at IS NULL`,
  )
  return row!.count
}

/** What the settings of a participant depend on besides what is stored. */
export interface SettingsContext {
  default_level: Level
  now: Micros
}

/** The settings of a participant. */
export function toSettings(row: SettingsColumns, context: SettingsContext): ConversationSettings {
  return {
    level: levelOf(row, context.default_level),
    ...mutedUntil(row.muted_until, context.now),
    archived: row.archived === 1,
    receipts: row.receipts === 1,
    ...favouriteOf(row),
  }
}

/** The fields of a conversation that only its participant sees. */
export function toOwnFields(
  row: Omit<SettingsColumns, 'receipts'> & { unread_mentions: number },
  context: SettingsContext,
) {
  return {
    mentions: row.unread_mentions,
    level: levelOf(row, context.default_level),
    ...mutedUntil(row.muted_until, context.now),
    ...(row.archived === 1 && { archived: true as const }),
    ...favouriteOf(row),
  }
}

const favouriteOf = (row: Pick<SettingsColumns, 'favourite'>) =>
  row.favourite === 1 ? { favourite: true as const } : {}

function mutedUntil(muted_until: Micros | null, now: Micros): Pick<ConversationSettings, 'muted_until'> {
  if (!isMuted(muted_until, now)) return {}
  return { muted_until: muted_until === FOREVER ? 'forever' : toInstant(muted_until!) }
}

/** Changed settings as they are stored. */
export function toStoredSettings(change: ConversationSettingsChange): Partial<Omit<SettingsColumns, 'is_direct'>> {
  const { level, muted_until, archived, favourite, receipts } = change
  return {
    ...(level !== undefined && { level }),
    ...(muted_until !== undefined && { muted_until: toStoredMuting(muted_until) }),
    ...(archived !== undefined && { archived: archived ? 1 : 0 }),
    ...(favourite !== undefined && { favourite: favourite ? 1 : 0 }),
    ...(receipts !== undefined && { receipts: receipts ? 1 : 0 }),
  }
}

/** An instant so late that it cannot be stored is for ever. */
function toStoredMuting(muted_until: string | null): Micros | null {
  if (muted_until === null) return null
  return muted_until === 'forever' ? FOREVER : Math.min(fromInstant(muted_until), FOREVER)
}
