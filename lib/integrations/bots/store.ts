import type { Photos } from '../../accounts/users/photos.ts'
import type { ShownUser, UserRow } from '../../accounts/users/store.ts'
import { toInstant } from '../../core/time.ts'
import type { Queries } from '../../storage/database.ts'
import { sql } from '../../storage/sql.ts'
import type { Bot } from './schema.ts'

/** A bot as it is stored: a user with an owner. */
export interface BotRow extends ShownUser, Pick<UserRow, 'created_at' | 'disabled_at' | 'password_hash'> {
  owner_id: string
  description: string | null
  /** 1 if the owner has disabled it, and no administrator. */
  disabled_by_owner: number
}

const COLUMNS = sql`id, email, email_verified_at, username, display_name, avatar_url, roles, kind, password_hash,
  disabled_at, created_at, owner_id, description, disabled_by_owner`

/** A bot that has an owner. By primary key. */
export function findBot(db: Queries, id: string): Promise<BotRow | undefined> {
  return db.get<BotRow>(sql`SELECT ${COLUMNS} FROM users WHERE id = ${id} AND owner_id IS NOT NULL`)
}

/** The bots of a user that are not being erased, oldest first. By bots_of_owner. */
export function listBots(db: Queries, ownerId: string): Promise<BotRow[]> {
  return db.all<BotRow>(
    sql`SELECT ${COLUMNS} FROM users WHERE owner_id = ${ownerId}
            AND NOT EXISTS (SELECT 1 FROM erased_authors gone WHERE gone.user_id = users.id)
      ORDER BY id`,
  )
}

/** A row as the owner of the bot reads it. */
export function toBot(row: BotRow, photos: Photos): Bot {
  const { id, username, display_name, avatar_url, owner_id, description, created_at, disabled_at, disabled_by_owner } =
    row
  return {
    id,
    username,
    ...(display_name && { display_name }),
    ...photos(avatar_url),
    kind: 'bot',
    ...(disabled_at !== null && { disabled: true as const }),
    owner_id,
    ...(description && { description }),
    ...(disabled_at !== null && { disabled_reason: disabled_by_owner === 1 ? ('user' as const) : ('admin' as const) }),
    created_at: toInstant(created_at),
  }
}

/** Stores what only a bot has. */
export async function updateBot(
  tx: Queries,
  {
    id,
    owner_id,
    description,
    disabled_by_owner,
  }: Pick<BotRow, 'id' | 'owner_id' | 'description' | 'disabled_by_owner'>,
): Promise<void> {
  await tx.run(
    sql`UPDATE users SET owner_id = ${owner_id}, description = ${description}, disabled_by_owner = ${disabled_by_owner}
      WHERE id = ${id}`,
  )
}
