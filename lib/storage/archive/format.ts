import type { Row } from '../database.ts'
import type { History } from '../histories.ts'

/** The version of the archive format; it changes when older programs cannot read the new one. */
export const VERSION = 1

/** The number of rows read, or written in one transaction, at a time. */
export const PAGE = 500

/**
 * The tables of an archive, each after those it refers to, with its primary key. It leaves out what a service may
 * forget: started sign-ins through providers, counters of limits, and tasks, which a start creates again.
 */
export const TABLES: [name: string, ...key: string[]][] = [
  ['users', 'id'],
  ['setup', 'id'],
  ['sessions', 'id'],
  ['rotated_tokens', 'token_hash'],
  ['identities', 'provider', 'issuer', 'subject'],
  ['oauth_clients', 'id'],
  ['grants', 'id'],
  ['api_keys', 'id'],
  ['server_keys', 'id'],
  ['password_resets', 'token_hash'],
  ['email_verifications', 'token_hash'],
  ['email_requests', 'id'],
  ['email_request_tokens', 'token_hash'],
  ['known_devices', 'token_hash'],
  ['conversations', 'id'],
  ['participants', 'conversation_id', 'user_id'],
  ['former_participants', 'user_id', 'conversation_id'],
  ['invites', 'id'],
  ['hooks', 'id'],
  ['bot_commands', 'id'],
  ['webhooks', 'id'],
  ['threads', 'root_id'],
  ['thread_members', 'root_id', 'user_id'],
  ['chats', 'user_id', 'name'],
  ['messages', 'id'],
  ['blobs', 'id'],
  ['attachments', 'id'],
  ['attachment_parts', 'attachment_id', 'n'],
  ['reactions', 'message_id', 'emoji_key', 'user_id'],
  ['answer_feedback', 'id'],
  ['notifications', 'id', 'user_id'],
  ['message_revisions', 'message_id', 'replaced_at'],
  ['message_chunks', 'message_id', 'idx'],
  ['answers_under_way', 'message_id'],
  ['answer_runs', 'message_id'],
  ['tool_calls', 'id'],
  ['approval_votes', 'id'],
  ['idempotency_keys', 'user_id', 'name'],
  ['erased_authors', 'user_id'],
  ['merged_users', 'from_id'],
  ['token_floors', 'subject_hash'],
  ['usage_entries', 'message_id', 'kind'],
  ['usage_totals', 'dimension', 'unit', 'starts_at', 'key'],
  ['usage_quotas', 'id'],
  ['events', 'id'],
  ['limit_profiles', 'id'],
  ['limit_assignments', 'id'],
  ['audit_log', 'id'],
]

/** The number of rows by table. */
export type Counts = Record<string, number>

/** Called with the current table and the number of its rows done. */
export type Progress = (table: string, rows: number) => void

/** The first line: the id of the archive, its schema, and the storage of its files. */
export interface Header {
  chat_server_archive: number
  id: string
  exported_at: string
  migrations: string[]
  storage?: string
  /** By which its events keep their ids. */
  event_histories?: History[]
  /** The only conversation that it has, by id; without it, it has a whole database. */
  conversation?: string
}

/** A line of an archive. */
export type Line = Header | { table: string; row: Row } | { end: true; counts: Counts }
