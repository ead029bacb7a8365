import { toInstant } from '../../core/time.ts'
import type { Queries } from '../../storage/database.ts'
import { type Micros, sql } from '../../storage/sql.ts'
import type { IncomingHook } from './schema.ts'

/** A hook as it is stored, with the name of its bot: only a digest of its token. */
export interface HookRow {
  id: string
  conversation_id: string
  bot_id: string
  root_id: string | null
  created_by: string | null
  created_at: Micros
  name: string
}

const COLUMNS = sql`h.id, h.conversation_id, h.bot_id, h.root_id, h.created_by, h.created_at,
  coalesce(u.display_name, u.username) AS name`

/** A row as those read it who manage the conversation. */
export function toHook(row: HookRow): IncomingHook {
  return {
    id: row.id,
    conversation_id: row.conversation_id,
    name: row.name,
    bot_id: row.bot_id,
    ...(row.root_id && { root_id: row.root_id }),
    ...(row.created_by && { created_by: row.created_by }),
    created_at: toInstant(row.created_at),
  }
}

/** The hook with this digest of its token, if its bot is active. By token_hash. */
export function findHookByHash(db: Queries, tokenHash: string): Promise<HookRow | undefined> {
  return db.get<HookRow>(
    sql`SELECT ${COLUMNS} FROM hooks h JOIN users u ON u.id = h.bot_id
      WHERE h.token_hash = ${tokenHash} AND u.disabled_at IS NULL`,
  )
}

/** The hooks of a conversation, oldest first. By conversation_id. */
export function listHooks(db: Queries, conversationId: string): Promise<HookRow[]> {
  return db.all<HookRow>(
    sql`SELECT ${COLUMNS} FROM hooks h JOIN users u ON u.id = h.bot_id
      WHERE h.conversation_id = ${conversationId} ORDER BY h.id`,
  )
}

export async function insertHook(tx: Queries, row: Omit<HookRow, 'name'> & { token_hash: string }): Promise<void> {
  await tx.run(
    sql`INSERT INTO hooks (id, conversation_id, bot_id, root_id, token_hash, created_by, created_at)
          VALUES (${row.id}, ${row.conversation_id}, ${row.bot_id}, ${row.root_id}, ${row.token_hash},
                  ${row.created_by}, ${row.created_at})`,
  )
}

/** By primary key. @returns the deleted hook, if there was one */
export function deleteHook(
  tx: Queries,
  { id, conversation_id }: { id: string; conversation_id: string },
): Promise<{ bot_id: string } | undefined> {
  return tx.get(sql`DELETE FROM hooks WHERE id = ${id} AND conversation_id = ${conversation_id} RETURNING bot_id`)
}
