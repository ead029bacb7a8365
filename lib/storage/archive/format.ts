import type { Row } from '../database.ts'

/** The form of an archive; it changes when older programs could not read it. */
export const VERSION = 1

/** How many rows are read, or written in one transaction, at a time. */
export const PAGE = 500

/**
 * What an archive holds, each table after those it refers to, with its primary key. What a service may forget is not in
 * it: sign-ins elsewhere that have begun, what limits have counted, and tasks, which a start makes anew.
 */
export const TABLES: [name: string, ...key: string[]][] = [
  ['users', 'id'],
  ['setup', 'id'],
  ['sessions', 'id'],
  ['rotated_tokens', 'token_hash'],
  ['identities', 'provider', 'issuer', 'subject'],
  ['api_keys', 'id'],
  ['password_resets', 'token_hash'],
  ['email_verifications', 'token_hash'],
  ['known_devices', 'token_hash'],
  ['conversations', 'id'],
  ['participants', 'conversation_id', 'user_id'],
  ['invites', 'id'],
  ['threads', 'root_id'],
  ['thread_members', 'root_id', 'user_id'],
  ['messages', 'id'],
  ['message_revisions', 'message_id', 'replaced_at'],
  ['message_chunks', 'message_id', 'idx'],
  ['answers_under_way', 'message_id'],
  ['idempotency_keys', 'user_id', 'name'],
  ['erased_authors', 'user_id'],
  ['events', 'id'],
  ['limit_profiles', 'id'],
  ['limit_assignments', 'id'],
  ['audit_log', 'id'],
]

/** How many rows there are of each table. */
export type Counts = Record<string, number>

/** Told of the table at hand, and of how many of its rows are done. */
export type Progress = (table: string, rows: number) => void

/** The first line: which archive it is, and of which schema. */
export interface Header {
  chat_server_archive: number
  id: string
  exported_at: string
  migrations: string[]
}

/** A line of an archive. */
export type Line = Header | { table: string; row: Row } | { end: true; counts: Counts }
