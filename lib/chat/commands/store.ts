import type { PersonRow } from '../../accounts/users/store-people.ts'
import type { Cutoff } from '../../core/clock.ts'
import { DAY, MINUTE } from '../../core/units.ts'
import type { Queries } from '../../storage/database.ts'
import { onRows } from '../../storage/on-rows.ts'
import { among, isAbandoned, type Micros, type Sql, sql } from '../../storage/sql.ts'
import type { AnsweredCall, BotCommand, CommandInvocation, CommandValues } from './schema.ts'

/** For how long a program may name a call in what it answers. */
const MAX_AGE = 15 * MINUTE

/** For how long a repeated call returns the first one. */
export const KEPT = DAY

/** The commands of a program, as JSON, with the program. */
export interface CommandsRow extends PersonRow {
  commands: string
}

/** The commands of a row, in their order. */
export function parseCommands({ commands }: Pick<CommandsRow, 'commands'>): BotCommand[] {
  return JSON.parse(commands) as BotCommand[]
}

/** Replaces the commands of a program. By primary key. */
export async function storeCommands(
  tx: Queries,
  { bot_id, commands, is_everywhere }: { bot_id: string; commands: BotCommand[]; is_everywhere: boolean },
): Promise<void> {
  await tx.run(
    sql`INSERT INTO bot_commands (id, commands, is_everywhere)
          VALUES (${bot_id}, ${JSON.stringify(commands)}, ${is_everywhere ? 1 : 0})
     ON CONFLICT (id) DO UPDATE SET commands = excluded.commands`,
  )
}

/** The commands of a program, if it has set any. By primary key. */
export function findCommandsOf(db: Queries, botId: string): Promise<Pick<CommandsRow, 'commands'> | undefined> {
  return db.get(sql`SELECT commands FROM bot_commands WHERE id = ${botId}`)
}

/** The programs whose commands may be called in a conversation: its active bots with commands, and parts of the host. */
const IS_THERE = sql`u.disabled_at IS NULL AND ${isAbandoned(sql`u`)} = 0`

const COLUMNS = sql`u.id AS id, u.username, u.username_key, u.display_name, u.avatar_url, u.disabled_at, u.system_name, u.kind,
  b.commands`

/**
 * The commands in a conversation, by program. By (conversation_id, user_id), and by commands_everywhere.
 *
 * @param options.bots whether those of bots are offered, beside those of parts of the host
 */
export function listCommands(db: Queries, conversationId: string, { bots }: { bots: boolean }): Promise<CommandsRow[]> {
  return db.all<CommandsRow>(
    sql`SELECT ${COLUMNS} FROM participants p JOIN bot_commands b ON b.id = p.user_id JOIN users u ON u.id = b.id
      WHERE p.conversation_id = ${conversationId} AND b.is_everywhere = 0 AND ${IS_THERE} AND ${bots ? 1 : 0} = 1
     UNION ALL
     SELECT ${COLUMNS} FROM bot_commands b JOIN users u ON u.id = b.id
      WHERE b.is_everywhere = 1 AND u.disabled_at IS NULL
     ORDER BY id`,
  )
}

/** A call of a command as it is stored. */
export interface InvocationRow {
  id: string
  conversation_id: string
  bot_id: string
  user_id: string
  root_id: string | null
  name: string
  /** As JSON. */
  options: string
  idempotency_key: string | null
  request_hash: string | null
  created_at: Micros
}

const INVOCATION = sql`id, conversation_id, bot_id, user_id, root_id, name, options, idempotency_key, request_hash,
  created_at`

/** A call as its program gets it. */
export function toInvocation(row: Omit<InvocationRow, 'idempotency_key' | 'request_hash'>): CommandInvocation {
  return {
    invocation_id: row.id,
    conversation_id: row.conversation_id,
    ...(row.root_id && { root_id: row.root_id }),
    user_id: row.user_id,
    name: row.name,
    options: JSON.parse(row.options) as CommandValues,
  }
}

/** @returns whether it is stored; false if the user made another call with its key at the same time */
export async function insertInvocation(tx: Queries, row: InvocationRow): Promise<boolean> {
  const count = await tx.run(
    sql`INSERT INTO invocations (${INVOCATION})
          VALUES (${row.id}, ${row.conversation_id}, ${row.bot_id}, ${row.user_id}, ${row.root_id}, ${row.name},
                  ${row.options}, ${row.idempotency_key}, ${row.request_hash}, ${row.created_at})
     ON CONFLICT (user_id, idempotency_key) DO NOTHING`,
  )
  return count === 1
}

/** A call of a user with this idempotency key. By keys_of_invocations. */
export function findKeyed(db: Queries, userId: string, key: string): Promise<InvocationRow | undefined> {
  return db.get<InvocationRow>(
    sql`SELECT ${INVOCATION} FROM invocations WHERE user_id = ${userId} AND idempotency_key = ${key}`,
  )
}

/** Deletes the call with a key if it is too old to be repeated. By keys_of_invocations. */
export async function deleteKeyed(
  tx: Queries,
  { user_id, key }: { user_id: string; key: string },
  now: Micros,
): Promise<void> {
  await tx.run(
    sql`DELETE FROM invocations
      WHERE user_id = ${user_id} AND idempotency_key = ${key} AND created_at <= ${now - KEPT}`,
  )
}

/** Whether a call is one that a repetition with its key returns. */
export const isKept = ({ created_at }: Pick<InvocationRow, 'created_at'>, now: Micros) => created_at > now - KEPT

/** The ones of these calls whose callers are not erased. By primary keys. */
export function listInvocations(db: Queries, ids: Iterable<string>): Promise<InvocationRow[]> {
  return db.all<InvocationRow>(
    sql`SELECT ${INVOCATION} FROM invocations i WHERE id ${among(db, ids)}
        AND NOT EXISTS (SELECT 1 FROM erased_authors gone WHERE gone.user_id = i.user_id)`,
  )
}

/** The ones of these calls that an answer may still name. By primary keys. */
export async function listAnswerable(db: Queries, ids: Iterable<string>, now: Micros): Promise<InvocationRow[]> {
  return (await listInvocations(db, ids)).filter(({ created_at }) => created_at > now - MAX_AGE)
}

/** The call that an answer names, if it is one to this program there. By primary key. */
export async function findAnswered(
  db: Queries,
  { id, bot_id, conversation_id }: Pick<InvocationRow, 'id' | 'bot_id' | 'conversation_id'>,
  now: Micros,
): Promise<AnsweredCall | undefined> {
  const [row] = await listAnswerable(db, [id], now)
  if (row?.bot_id !== bot_id || row.conversation_id !== conversation_id) return undefined
  return { user_id: row.user_id, name: row.name }
}

/** Whether a conversation has a thread, which is not deleted. By primary key. */
export async function hasThread(db: Queries, conversationId: string, rootId: string): Promise<boolean> {
  const row = await db.get(
    sql`SELECT 1 AS found FROM messages
      WHERE id = ${rootId} AND conversation_id = ${conversationId} AND parent_id IS NULL AND deleted_at IS NULL`,
  )
  return row !== undefined
}

/** Lets up to `limit` texts that answer a user's calls name no caller any more. By the indexes of callers. */
export async function forgetCaller(tx: Queries, userId: string, limit: number): Promise<number> {
  const forget = (table: Sql) =>
    tx.run(
      sql`UPDATE ${table} SET invoked_by = NULL, invoked_name = NULL WHERE id IN (
            SELECT id FROM ${table} WHERE invoked_by = ${userId} LIMIT ${limit})`,
    )
  return Math.max(await forget(sql`messages`), await forget(sql`notices`))
}

/** Columns of a text that answers a call: the caller, and the name of the command. */
export interface AnswerColumns {
  invoked_by?: string | null
  invoked_name?: string | null
}

/** Notes which calls messages answer. By primary key. */
export const setAnswered = onRows<{ id: string; user_id: string; name: string }>(
  { id: 'text', user_id: 'text', name: 'text' },
  (given) =>
    sql`UPDATE messages SET invoked_by = given.user_id, invoked_name = given.name FROM ${given}
      WHERE messages.id = given.id`,
  { joint: true },
)

/** Deletes up to `limit` calls from before an instant. By invocations_by_age. */
export function deleteInvocationsBefore(tx: Queries, before: Cutoff, limit: number): Promise<number> {
  return tx.run(
    sql`DELETE FROM invocations WHERE id IN (
          SELECT id FROM invocations WHERE created_at < ${before} ORDER BY created_at LIMIT ${limit})`,
  )
}
