import { sql } from '../../storage/sql.ts'
import type { OwnRows } from './store.ts'

const SELF = (id: string) => sql`user_id = ${id}`

/** What an export of a user reads of these tables, a file each. */
export const OWN_ROWS: Record<string, OwnRows> = {
  account: {
    table: 'users',
    columns: sql`id, username, display_name, avatar_url, kind, owner_id, description, email, email_verified_at, roles, receipts, disabled_at, created_at,
      updated_at, used_at AS last_seen_at`,
    of: (id) => sql`id = ${id}`,
    key: ['id'],
  },
  sessions: {
    table: 'sessions',
    columns: sql`id, issued_at, last_seen_at, idle_expires_at, absolute_expires_at, user_agent, ip`,
    of: SELF,
    key: ['id'],
  },
  identities: {
    table: 'identities',
    columns: sql`provider, issuer, subject, created_at`,
    of: SELF,
    key: ['provider', 'issuer', 'subject'],
  },
  bots: {
    table: 'users',
    columns: sql`id, username, display_name, description, disabled_at, created_at`,
    of: (id) => sql`owner_id = ${id}`,
    key: ['id'],
  },
  keys: {
    table: 'api_keys',
    columns: sql`id, name, created_at, expires_at, last_used_at`,
    of: (id) => sql`user_id = ${id} AND grant_id IS NULL`,
    key: ['id'],
  },
  grants: {
    table: 'grants',
    columns: sql`id, client_id, client_name, client_host, scopes, created_at, last_used_at`,
    of: SELF,
    key: ['id'],
  },
  conversations: {
    table: 'participants',
    columns: sql`conversation_id, role, joined_at, level, muted_until, archived, favourite, receipts,
      NULLIF(replies_read_to, 0) AS replies_read_at, NULLIF(roots_read_to, 0) AS roots_read_at`,
    of: SELF,
    key: ['conversation_id'],
  },
  former_conversations: {
    table: 'former_participants',
    columns: sql`conversation_id`,
    of: SELF,
    key: ['conversation_id'],
  },
  read_markers: {
    table: 'thread_members',
    columns: sql`root_id, NULLIF(read_at, 0) AS read_at, CASE WHEN followed_at > 0 THEN followed_at END AS followed_at,
      CASE WHEN followed_at < 0 THEN -followed_at END AS unfollowed_at`,
    of: SELF,
    key: ['root_id'],
  },
  chats: {
    table: 'chats',
    columns: sql`name, conversation_id, root_id, metadata, created_at`,
    of: SELF,
    key: ['name'],
  },
  reactions: { table: 'reactions', columns: sql`message_id, emoji, at`, of: SELF, key: ['message_id', 'emoji_key'] },
  feedback: {
    table: 'answer_feedback',
    columns: sql`message_id, rating, reason, at`,
    of: SELF,
    key: ['message_id'],
  },
  pins: {
    table: 'messages',
    columns: sql`id AS message_id, pinned_at`,
    of: (id) => sql`pinned_by = ${id}`,
    key: ['id'],
  },
  invites: {
    table: 'invites',
    columns: sql`id, conversation_id, role, uses, max_uses, created_at, expires_at, revoked_at`,
    of: (id) => sql`created_by = ${id}`,
    key: ['id'],
  },
  hooks: {
    table: 'hooks',
    columns: sql`id, conversation_id, bot_id, root_id, created_at`,
    of: (id) => sql`created_by = ${id}`,
    key: ['id'],
  },
  webhooks: {
    table: 'webhooks',
    columns: sql`id, bot_id, url, types, conversation_id, only_notified, bots, event_order, parallel, payload, signature,
      header_names, description, status, disabled_reason, last_success_at, created_at`,
    of: SELF,
    key: ['id'],
  },
  notifications: {
    table: 'notifications',
    columns: sql`id, kind, at, read_at, conversation_id, root_id, message_id, count, webhook_id`,
    of: SELF,
    key: ['id'],
  },
  usage: {
    table: 'usage_entries',
    columns: sql`message_id, kind, at, conversation_id, assistant, model, steps, prompt_tokens, completion_tokens, cached_tokens,
      reasoning_tokens, cost_micros, estimated`,
    of: SELF,
    key: ['message_id', 'kind'],
  },
  quota: { table: 'usage_quotas', columns: sql`limits`, of: (id) => sql`id = ${id}`, key: ['id'] },
  approval_votes: {
    table: 'approval_votes',
    columns: sql`id, call_id, approve, at, reason`,
    of: SELF,
    key: ['id'],
  },
  address_requests: {
    table: 'email_requests',
    columns: sql`id, kind, email, created_at, expires_at`,
    of: SELF,
    key: ['id'],
  },
}

/**
 * For each other table of the schema, why an export of a user leaves it out; for those that are read in another way, where
 * they are. A new table needs a line here or above.
 */
export const OTHER_TABLES: Record<string, string> = {
  bot_commands: 'what a bot offers to all participants',
  invocations: 'calls of commands, for minutes',
  notices: 'texts of programs that live for a day at most',
  messages: 'conversations/, without those that are deleted',
  message_revisions: 'conversations/, as earlier texts',
  attachments: 'files.json and files/',
  audit_log: 'audit.json, without details, which may name others',
  blobs: 'the bytes in files/, and the photo',
  attachment_parts: 'the bytes in files/',
  rotated_tokens: 'digests of random tokens',
  password_resets: 'digests of random tokens, for an hour',
  email_verifications: 'digests of random tokens, for a few days',
  email_request_tokens: 'digests of random tokens',
  known_devices: 'digests of random tokens',
  oauth_states: 'started sign-ins, for minutes',
  oauth_clients: 'applications, which are of no user',
  oauth_assertions: 'digests of what applications prove themselves with, for minutes',
  login_failures: 'digests of addresses',
  idempotency_keys: 'names that a program chose, for a day',
  erased_authors: 'users who are being erased, and have no account',
  merged_users: 'ids of users who were merged into the user, and have no account',
  webhook_deliveries: 'attempts to send ids of what is exported from its own table, for days',
  token_floors: 'digests of ids of persons who have no account',
  events: 'ids of what is exported from its own table',
  revocations: 'signals between processes, for minutes',
  node_presence: 'who is online, for a day',
  tasks: 'work in progress',
  conversations: 'titles, which others may have written; their ids are in conversations.json',
  threads: 'counts; titles are with the first messages',
  message_chunks: 'answers of the assistant',
  tool_calls: 'answers of the assistant',
  answer_runs: 'answers of the assistant',
  answers_under_way: 'answers of the assistant',
  user_words: 'words of the names in account.json',
  search_changes: 'the search index, made of messages',
  search_docs: 'the search index, made of messages',
  search_words: 'the search index, made of messages',
  search_gone: 'the search index, made of messages',
  migrations: 'names no user',
  meta: 'names no user',
  server_keys: 'keys of programs: they name no user',
  setup: 'names no user',
  limit_profiles: 'names no user',
  limit_assignments: 'names no user',
  limit_buckets: 'counts of requests, for minutes',
  nodes: 'names no user',
  signals: 'signals between processes, for seconds',
  schedules: 'names no user',
  blob_sizes: 'names no user',
  usage_rounds: 'names no user',
  usage_sums: 'sums of what is exported from its own tables',
  usage_totals: 'sums of what is in usage.json',
}

/** Entries of the audit log that a user made, and those about the user. The address is their actor's. */
export const AUDIT_ROWS: readonly (OwnRows & { relation: 'made' | 'about' })[] = [
  {
    relation: 'made',
    table: 'audit_log',
    columns: sql`id, at, act, ip`,
    of: (id) => sql`actor_id = ${id}`,
    key: ['id'],
  },
  {
    relation: 'about',
    table: 'audit_log',
    columns: sql`id, at, act`,
    of: (id) => sql`subject_id = ${id}`,
    key: ['id'],
  },
  // What others did to a key or a message of the user, which is the subject there.
  {
    relation: 'about',
    table: 'audit_log',
    columns: sql`id, at, act`,
    of: (id) => sql`about_id = ${id} AND (subject_id IS NULL OR subject_id <> about_id)`,
    key: ['id'],
  },
]
