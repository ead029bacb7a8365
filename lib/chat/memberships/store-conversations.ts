import { uniqueKey } from '../../core/characters.ts'
import { toInstant } from '../../core/time.ts'
import type { Queries } from '../../storage/database.ts'
import { among, assignments, type Micros, sql } from '../../storage/sql.ts'
import type { ConversationFields } from '../conversations/schema.ts'
import type { ConversationAssistant } from '../conversations/schema-assistant.ts'
import type { Metadata } from '../conversations/schema-metadata.ts'
import type { AutoJoin, Visibility } from '../conversations/schema-settings.ts'
import { type LookColumns, toLook } from './rules-look.ts'
import { toPolicy } from './rules-settings.ts'

/** A row of a conversation. */
export interface ConversationRow extends LookColumns {
  id: string
  title: string
  is_group: number
  ref: string | null
  /** As JSON. */
  metadata: string | null
  created_at: Micros
  is_direct: number
  /** The ids of the two people of a direct conversation; `null` for another one, and once one of them is erased. */
  pair_key: string | null
  /** As JSON. */
  policy: string | null
  /** Since when it is frozen. */
  frozen_at: Micros | null
  /** `null` is private. */
  visibility: 'listed' | 'open' | null
  /** Which users join by themselves; `null` is none. */
  auto_join: AutoJoin | null
  /** The key of its assistant. */
  assistant?: string | null
  /** What the assistants are told in it; missing in lists. */
  assistant_prompt?: string | null
}

/** A row of a conversation, with the number of its participants, and the system actor that has created it. */
export interface CountedRow extends ConversationRow {
  participant_count: number
  system_id: string | null
}

const COLUMNS = sql`id, title, is_group, ref, metadata, created_at, is_direct, pair_key, policy, layout,
  topic, icon, frozen_at, visibility, auto_join`

const ALL_COLUMNS = sql`${COLUMNS}, assistant, assistant_prompt`

/** The fields of a new conversation that is not direct, and has nothing to show. */
export const NOT_DIRECT = {
  is_direct: 0,
  pair_key: null,
  policy: null,
  layout: null,
  topic: null,
  icon: null,
  frozen_at: null,
  visibility: null,
  auto_join: null,
}

/** The fields of a conversation that its participants read. */
export function toFields(row: ConversationRow): ConversationFields {
  const { id, title, ref, metadata } = row
  return {
    id,
    title,
    is_group: row.is_group === 1,
    ...(row.is_direct === 1 && { direct: true as const }),
    ...toLook(row),
    visibility: row.visibility ?? 'private',
    policy: toPolicy(row),
    ...((row.assistant || row.assistant_prompt) && { assistant: toAssistant(row) }),
    ...(row.auto_join !== null && { auto_join: row.auto_join }),
    ...(row.frozen_at !== null && { frozen_at: toInstant(row.frozen_at) }),
    ...(ref !== null && { ref }),
    ...(metadata !== null && { metadata: JSON.parse(metadata) as Metadata }),
    created_at: toInstant(row.created_at),
  }
}

function toAssistant({ assistant: key, assistant_prompt: prompt }: ConversationRow): ConversationAssistant {
  return { ...(key && { key }), ...(prompt && { prompt }) }
}

/** The visibility of a conversation, as it is stored. */
export const toVisibility = (visibility: Visibility) => ({ visibility: visibility === 'private' ? null : visibility })

/** A title for comparison, as the directory is sorted. */
export const titleKey = (title: string): string => uniqueKey(title)

/** Metadata as it is stored: an empty object is none. */
export function toStored(metadata: Metadata): string | null {
  return Object.keys(metadata).length === 0 ? null : JSON.stringify(metadata)
}

export function findConversation(db: Queries, id: string): Promise<CountedRow | undefined> {
  return db.get<CountedRow>(
    sql`SELECT ${ALL_COLUMNS}, participant_count, system_id FROM conversations WHERE id = ${id} AND deleted_at IS NULL`,
  )
}

/** What decides whether a message in a conversation is a question, and to which assistant. By primary key. */
export async function findAsking(
  db: Queries,
  id: string,
): Promise<Pick<ConversationRow, 'is_direct' | 'layout'> & { assistant: string | null }> {
  const row = await db.get<Awaited<ReturnType<typeof findAsking>>>(
    sql`SELECT is_direct, layout, assistant FROM conversations WHERE id = ${id}`,
  )
  return row ?? { is_direct: 0, layout: null, assistant: null }
}

/** Whether a conversation exists, for a system actor that is not disabled. By primary keys. */
export async function isPlace(db: Queries, id: string, systemId: string): Promise<boolean> {
  return Boolean(
    await db.get(
      sql`SELECT 1 AS found FROM conversations c JOIN users u ON u.id = ${systemId} AND u.disabled_at IS NULL
        WHERE c.id = ${id} AND c.deleted_at IS NULL`,
    ),
  )
}

/** The conversation with a ref. By ref. */
export async function findConversationByRef(db: Queries, ref: string): Promise<string | undefined> {
  const row = await db.get<{ id: string }>(sql`SELECT id FROM conversations WHERE ref = ${ref} AND deleted_at IS NULL`)
  return row?.id
}

/** What users see of these conversations without participating, in no order; of deleted ones nothing. By primary key. */
export function listVisibility(
  db: Queries,
  ids: Iterable<string>,
): Promise<Pick<ConversationRow, 'id' | 'visibility'>[]> {
  return db.all(sql`SELECT id, visibility FROM conversations WHERE id ${among(db, ids)} AND deleted_at IS NULL`)
}

/** These conversations, in no order. By primary key. */
export function listConversationFields(db: Queries, ids: Iterable<string>): Promise<ConversationRow[]> {
  return db.all<ConversationRow>(sql`SELECT ${ALL_COLUMNS} FROM conversations WHERE id ${among(db, ids)}`)
}

/**
 * @param systemId of the system actor that creates it; then it needs no owner
 * @returns false if another conversation has its ref, or its pair
 */
export async function insertConversation(
  tx: Queries,
  row: ConversationRow,
  systemId: string | null = null,
): Promise<boolean> {
  const inserted = await tx.run(
    sql`INSERT INTO conversations (${COLUMNS}, title_key, clock, active_at, system_id, root_count, counted_seq)
          VALUES (${row.id}, ${row.title}, ${row.is_group}, ${row.ref}, ${row.metadata}, ${row.created_at},
                  ${row.is_direct}, ${row.pair_key}, ${row.policy}, ${row.layout}, ${row.topic}, ${row.icon},
                  ${row.frozen_at}, ${row.visibility}, ${row.auto_join}, ${titleKey(row.title)}, ${row.created_at}, ${row.created_at}, ${systemId}, 0, 0)
                  ON CONFLICT DO NOTHING`,
  )
  return inserted === 1
}

/**
 * The number of messages of a conversation with the layout `assistant` that has no title; `undefined` for any other. By primary
 * key.
 */
export async function countUntitled(db: Queries, id: string): Promise<number | undefined> {
  const row = await db.get<{ message_count: number }>(
    sql`SELECT message_count FROM conversations
      WHERE id = ${id} AND title = '' AND layout = 'assistant' AND is_direct = 0 AND deleted_at IS NULL`,
  )
  return row?.message_count
}

/** Changes what is given. It fails on a ref that another conversation has. */
export async function updateConversation(
  tx: Queries,
  id: string,
  changes: Partial<
    Pick<
      ConversationRow,
      | 'title'
      | 'ref'
      | 'metadata'
      | 'policy'
      | 'frozen_at'
      | 'visibility'
      | 'auto_join'
      | 'assistant'
      | 'assistant_prompt'
    > &
      LookColumns
  >,
): Promise<void> {
  if (Object.keys(changes).length === 0) return
  const { title } = changes
  const columns = { ...changes, ...(title !== undefined && { title_key: titleKey(title) }) }
  await tx.run(sql`UPDATE conversations SET ${assignments(columns)} WHERE id = ${id}`)
}

/**
 * Hides a conversation: for every caller it no longer exists. A task removes its content.
 */
export async function hideConversation(tx: Queries, id: string, at: Micros): Promise<void> {
  await tx.run(
    sql`UPDATE conversations
            SET deleted_at = ${at}, title = '', title_key = NULL, visibility = NULL, auto_join = NULL, topic = NULL, icon = NULL,
                ref = NULL, metadata = NULL, pair_key = NULL, assistant_prompt = NULL
          WHERE id = ${id}`,
  )
}

/** Whether a system actor has created a conversation: it needs no owner, and no participant. */
export async function isOfSystem(db: Queries, id: string): Promise<boolean> {
  return Boolean(await db.get(sql`SELECT 1 AS found FROM conversations WHERE id = ${id} AND system_id IS NOT NULL`))
}
