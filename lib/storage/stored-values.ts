import { FILE_TYPES, PHOTO_TYPES, THUMBNAIL_TYPES } from '../core/file-types.ts'
import type { Row } from './database.ts'

/** The values of a column. */
export interface ClosedColumn {
  values: readonly string[]
}

/**
 * The columns with a closed set of values, as the schemas of the API have them: the service writes no others, and relies on
 * that. Missing values are for the constraints of the tables.
 */
export const CLOSED_COLUMNS: Record<string, Record<string, ClosedColumn>> = {
  users: { avatar_type: { values: PHOTO_TYPES }, kind: { values: ['person', 'guest', 'bot'] } },
  email_requests: { kind: { values: ['invite', 'join', 'change', 'undo'] } },
  conversations: {
    layout: { values: ['stream', 'topics', 'assistant'] },
    visibility: { values: ['listed', 'open'] },
    auto_join: { values: ['members', 'everyone'] },
  },
  participants: { level: { values: ['all', 'mentions', 'none'] } },
  messages: {
    role: { values: ['user', 'assistant', 'system'] },
    status: { values: ['streaming', 'waiting', 'complete', 'cancelled', 'failed', 'interrupted'] },
    failure: {
      values: [
        'timeout',
        'provider_error',
        'provider_busy',
        'connection_lost',
        'invalid_answer',
        'empty_answer',
        'answer_too_long',
        'too_many_steps',
        'refused',
      ],
    },
  },
  answer_feedback: { rating: { values: ['up', 'down'] } },
  attachments: {
    sniffed: { values: FILE_TYPES },
    thumbnail_type: { values: THUMBNAIL_TYPES },
    status: { values: ['uploading', 'scanning', 'ready', 'refused', 'gone'] },
    lost_status: { values: ['scanning', 'ready'] },
  },
  notifications: { kind: { values: ['mention', 'reply', 'mention_all', 'direct', 'added', 'approval', 'system'] } },
  events: {
    type: {
      values: [
        'thread.new',
        'thread.updated',
        'message.new',
        'message.edited',
        'message.deleted',
        'message.restored',
        'reactions.changed',
        'pin.changed',
        'attachment.changed',
        'message.delta',
        'message.part',
        'message.done',
        'message.failed',
        'approval.changed',
        'membership.changed',
        'conversation.updated',
        'user.merged',
        'command.invoked',
        'notice.new',
        'notice.removed',
      ],
    },
  },
  oauth_clients: { kind: { values: ['document', 'operator', 'registered'] } },
  webhooks: {
    event_order: { values: ['none', 'conversation'] },
    payload: { values: ['full', 'thin'] },
    signature: { values: ['v1', 'v1a'] },
    status: { values: ['unverified', 'active', 'disabled'] },
    disabled_reason: {
      values: ['user', 'admin', 'gone', 'failing', 'restored', 'key', 'lockdown', 'secret_lost'],
    },
  },
  tool_calls: {
    state: {
      values: [
        'requested',
        'waiting',
        'approved',
        'running',
        'done',
        'failed',
        'denied',
        'expired',
        'unknown',
        'cancelled',
      ],
    },
    approval: { values: ['waiting', 'approved', 'denied', 'expired', 'cancelled'] },
    approvers: { values: ['asker', 'admins', 'members'] },
  },
  usage_entries: { kind: { values: ['answer', 'title'] } },
  usage_totals: {
    dimension: { values: ['all', 'user', 'assistant', 'model', 'conversation'] },
    unit: { values: ['day', 'month'] },
  },
  erased_authors: { messages: { values: ['keep', 'erase'] } },
  limit_assignments: { method: { values: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', '*'] } },
}

/** Columns of the names of roles, separated by commas: those that are not configured give nothing. */
export const ROLES: Record<string, readonly string[]> = {
  users: ['roles'],
  email_requests: ['roles'],
  participants: ['role'],
  invites: ['role'],
}

const ROLE_NAMES = /^[a-z0-9_,]+$/

/** Columns of labels, which have no control characters: some of them become a part of a header. */
export const LABELS: Record<string, readonly string[]> = { attachments: ['name', 'type'] }

/** Columns of JSON, an object or a list, which the service parses, or puts into an answer as it is stored. */
export const JSON_COLUMNS: Record<string, readonly string[]> = {
  conversations: ['metadata', 'policy'],
  messages: ['usage', 'metadata', 'reaction_list', 'attachment_list', 'mention_origins', 'parts', 'context'],
  message_chunks: ['part', 'provider_data'],
  events: ['detail'],
  bot_commands: ['commands'],
  audit_log: ['detail', 'names'],
  webhooks: ['types', 'header_names', 'gap', 'ahead'],
  usage_quotas: ['limits'],
  tool_calls: ['input', 'output', 'error'],
  answer_runs: ['spent', 'metadata'],
  chats: ['metadata'],
  oauth_clients: ['redirect_uris'],
  grants: ['refresh_tokens'],
}

/** Columns of texts that stand in JSON as they are stored. */
export const QUOTED: Record<string, readonly string[]> = { reactions: ['emoji'] }

/** The value of a row of an archive that the service would never have written, if any; it names table, column and value. */
export function findForeignValue(table: string, row: Row): string | undefined {
  for (const [column, { values }] of Object.entries(CLOSED_COLUMNS[table] ?? {})) {
    const value = row[column]
    if (value !== null && value !== undefined && !values.includes(String(value)))
      return `${table}.${column} is ${JSON.stringify(String(value).slice(0, 60))}; it can be ${values.join(', ')}`
  }
  for (const column of ROLES[table] ?? [])
    if (!ROLE_NAMES.test(String(row[column] ?? '_'))) return `${table}.${column} has no names of roles`
  for (const column of LABELS[table] ?? [])
    if (/\p{Cc}/u.test(String(row[column] ?? ''))) return `${table}.${column} has control characters`
  for (const column of JSON_COLUMNS[table] ?? [])
    if (!isJson(row[column])) return `${table}.${column} is no JSON of an object or a list`
  for (const column of QUOTED[table] ?? [])
    if (/["\\\p{Cc}]/u.test(String(row[column] ?? ''))) return `${table}.${column} has a character that JSON escapes`
  return undefined
}

/** Whether a stored value is missing, or JSON of an object or a list. */
export function isJson(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  try {
    const parsed: unknown = JSON.parse(String(value))
    return typeof parsed === 'object' && parsed !== null
  } catch {
    return false
  }
}
