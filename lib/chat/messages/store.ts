import type { OtherKind } from '../../accounts/users/schema.ts'
import { type Access, type ActorInConversation, mayModerate } from '../../core/access.ts'
import { MAX_QUOTE_LENGTH } from '../../core/excerpt.ts'
import { setStoredJson } from '../../core/stored-json.ts'
import { type PartColumns, shownParts } from '../../core/stored-parts.ts'
import { toInstant } from '../../core/time.ts'
import { CONTENT_SIZE, PARTS, withPartsInProgress } from '../../storage/answer-parts.ts'
import { answeredPerson } from '../../storage/answered-person.ts'
import type { Queries } from '../../storage/database.ts'
import { among, authorKind, literal, type Micros, sql } from '../../storage/sql.ts'
import type { Usage } from '../answers/schema.ts'
import type { FailureCode } from '../answers/schema-failures.ts'
import type { AnswerColumns } from '../commands/store.ts'
import type { Metadata } from '../conversations/schema-metadata.ts'
import { filesIn, type QuotedRow, toQuote } from './rules.ts'
import { addMentions } from './rules-mentioned.ts'
import { addStreamed } from './rules-streamed.ts'
import type { Message, MessagePin } from './schema.ts'

/** A row of a message: instants in microseconds, missing values as `null`. */
export interface MessageRow extends AnswerColumns, PartColumns {
  id: string
  conversation_id: string
  root_id: string
  parent_id: string | null
  /** The author; for an answer, the user who asked. */
  posted_by: string | null
  role: Message['role']
  content: string
  path: string
  depth: number
  status: Message['status']
  created_at: Micros
  edited_at: Micros | null
  deleted_at: Micros | null
  deleted_by: string | null
  delete_reason: string | null
  /** The question. Only an answer has it, and the usage; the next two also a message that a program has streamed. */
  prompt: string | null
  finish_reason: string | null
  failure: FailureCode | null
  /** As JSON. */
  usage: string | null
  /** As JSON. */
  metadata: string | null
  /** The list of its reactions, as JSON. */
  reaction_list?: string | null
  /** The list of its files, as JSON. */
  attachment_list?: string | null
  pinned_at?: Micros | null
  pinned_by?: string | null
  /** 1: it mentions all participants; 0: only persons; `null`: none. */
  mention_all: number | null
  /** The ids of the persons that it mentions, with commas between them, in their order. */
  mentioned: string | null
  /** The message that it quotes. */
  quote_id: string | null
  /** The first answer of the set of which it is a variant. */
  variant_of: string | null
  /** The key of the assistant that writes the answer. */
  assistant: string | null
  /** The keys of the assistants that the message asks, with commas between them, in their order. */
  asked: string | null
  quoted?: QuotedRow
  /** Set if the author is erased and the message not yet processed: 0 if its text stays, else the time of the erasure. */
  author_erased?: Micros | null
  /** The kind of its author, unless that is a person. */
  author_kind?: OtherKind | null
  /** The person who is answered by a message that a program streams. */
  answered_id?: string | null
  /** 1 for a post whose author says that it is generated text. */
  generated?: number | null
  /** What the assistant was told before the question, as JSON: read of one message alone. */
  context?: string | null
}

/** A row of a list without a long text, which is read later if it fits into the page. */
export interface LightMessageRow extends Omit<MessageRow, 'content'> {
  content: string | null
  /** The size, in bytes, of the texts that a reader gets. */
  size: number
}

const WITHOUT_TEXT = sql`id, conversation_id, root_id, parent_id, posted_by, role, path, depth, status,
  created_at, edited_at, deleted_at, deleted_by, delete_reason, finish_reason, failure, usage, reaction_list, attachment_list,
  pinned_at, pinned_by, mention_all, mentioned, quote_id, variant_of, assistant, asked, invoked_by,
  invoked_name, generated,
  (SELECT CASE gone.messages WHEN 'erase' THEN gone.erased_at ELSE 0 END
     FROM erased_authors gone WHERE gone.user_id = messages.posted_by) AS author_erased,
  ${authorKind(sql`messages.posted_by`)} AS author_kind, ${answeredPerson(sql`messages`)} AS answered_id`

// The content of an answer in progress is its stored chunks.
const COLUMNS = sql`${WITHOUT_TEXT}, metadata, prompt, ${PARTS}, CASE WHEN status IN ('streaming', 'waiting')
       THEN (SELECT coalesce(string_agg(c.content, '' ORDER BY c.idx), '') FROM message_chunks c WHERE c.message_id = messages.id)
       ELSE content END AS content`

/** Rows of a list contain texts up to this size: a page of them needs little memory, and most messages are shorter. */
const LIGHT_BYTES = 2048

/** The maximum size of a quote, in bytes. */
const QUOTE_BYTES = 4 * MAX_QUOTE_LENGTH + 250

const IS_LIGHT = sql`status NOT IN ('streaming', 'waiting') AND octet_length(content) + coalesce(octet_length(prompt), 0) +
  coalesce(octet_length(parts), 0) <= ${literal(LIGHT_BYTES)}`

// Both databases get the length of a text without reading it.
const LIGHT_COLUMNS = sql`${WITHOUT_TEXT},
  CASE WHEN deleted_at IS NOT NULL THEN '' WHEN ${IS_LIGHT} THEN content END AS content,
  CASE WHEN deleted_at IS NULL AND ${IS_LIGHT} THEN prompt END AS prompt, CASE WHEN ${IS_LIGHT} THEN parts END AS parts,
  CASE WHEN deleted_at IS NULL THEN metadata END AS metadata,
  CASE WHEN deleted_at IS NOT NULL THEN 0
       ELSE coalesce(octet_length(prompt), 0) + coalesce(octet_length(metadata), 0) +
         coalesce(octet_length(reaction_list), 0) + coalesce(octet_length(attachment_list), 0) +
         CASE WHEN quote_id IS NULL THEN 0 ELSE ${literal(QUOTE_BYTES)} END +
         ${CONTENT_SIZE}
       END AS size`

/** The row, without its text if that was erased with its author: then the message is deleted for every reader. */
function withoutErased<T extends MessageRow | LightMessageRow>(row: T): T {
  if (!row.author_erased) return row
  const deleted_at = row.deleted_at ?? row.author_erased
  return {
    ...row,
    content: '',
    prompt: null,
    context: null,
    metadata: null,
    attachment_list: null,
    mention_all: null,
    mentioned: null,
    asked: null,
    quote_id: null,
    delete_reason: null,
    deleted_at,
    ...('size' in row && { size: 0 }),
  }
}

/** A row as all participants read it, without the text of a deleted message. */
export function toMessage(row: MessageRow): Message {
  // Assigned one by one, not spread: this runs for every event of a message.
  const message: Message = {
    id: row.id,
    conversation_id: row.conversation_id,
    root_id: row.root_id,
    role: row.role,
    content: row.deleted_at ? '' : row.content,
    path: row.path,
    depth: row.depth,
    status: row.status,
    created_at: toInstant(row.created_at),
  }
  if (row.parent_id) message.parent_id = row.parent_id
  if (row.posted_by && row.role !== 'assistant' && !isAnonymous(row)) message.author_user_id = row.posted_by
  if (message.author_user_id && row.author_kind) message.author_kind = row.author_kind
  if (row.edited_at) message.edited_at = toInstant(row.edited_at)
  if (row.deleted_at) message.deleted_at = toInstant(row.deleted_at)
  if (!row.deleted_at) addMentions(message, row)
  if (row.metadata !== null && !row.deleted_at) message.metadata = JSON.parse(row.metadata) as Metadata
  if (row.reaction_list && !row.deleted_at) setStoredJson(message, 'reactions', row.reaction_list)
  if (row.attachment_list && !row.deleted_at) message.attachments = filesIn(row.attachment_list, message.author_user_id)
  if (row.pinned_at && !row.deleted_at) message.pinned = toPin(row.pinned_at, row.pinned_by)
  if (row.quoted && !row.deleted_at) message.quote = toQuote(row.quoted)
  if (row.invoked_by && !row.deleted_at) message.invocation = { user_id: row.invoked_by, name: row.invoked_name! }
  if ((row.generated || row.role === 'assistant') && !row.deleted_at) message.generated = true
  if (row.role === 'assistant') addAnswer(message, row)
  else addStreamed(message, row)
  return message
}

/** The pin of a message as its readers get it. */
export function toPin(at: Micros, by: string | null | undefined): MessagePin {
  return { ...(by && { by }), at: toInstant(at) }
}

function isAnonymous({ author_erased = null }: MessageRow): boolean {
  return author_erased !== null
}

function addAnswer(message: Message, row: MessageRow): void {
  if (row.prompt !== null && !row.deleted_at) message.prompt = row.prompt
  if (row.posted_by && !isAnonymous(row)) message.requested_by = row.posted_by
  if (row.finish_reason) message.finish_reason = row.finish_reason
  if (row.failure && !row.deleted_at) message.failure = row.failure
  if (row.variant_of) message.variant_of = row.variant_of
  if (row.assistant) message.assistant = row.assistant
  if (row.usage) message.usage = JSON.parse(row.usage) as Usage
  const parts = row.deleted_at ? undefined : shownParts(row)
  if (parts) message.parts = parts
}

/** A row as one reader gets it: a reader who may restore the message also gets the reason of its deletion. */
export function toMessageFor(access: Access, reader: ActorInConversation, row: MessageRow): Message {
  const message = toMessage(row)
  const { deleted_at, delete_reason, deleted_by, posted_by } = row
  if (deleted_at && delete_reason !== null && mayModerate(access, reader, { author: deleted_by ?? posted_by }))
    message.delete_reason = delete_reason
  return message
}

/** The message, without a check of rights: the caller checks those of its conversation. By primary key. */
export async function findMessage(db: Queries, id: string): Promise<MessageRow | undefined> {
  const row = await db.get<MessageRow>(sql`SELECT ${COLUMNS}, context FROM messages WHERE id = ${id}`)
  return row && withoutErased((await withPartsInProgress(db, [row]))[0]!)
}

/** The conversation of a message, without a check of rights. By primary key. */
export async function findPlaceOf(db: Queries, id: string): Promise<string | undefined> {
  const row = await db.get<{ conversation_id: string }>(sql`SELECT conversation_id FROM messages WHERE id = ${id}`)
  return row?.conversation_id
}

/** These messages, in no order, without long texts. By primary key. */
export async function listLightMessages(db: Queries, ids: Iterable<string>): Promise<LightMessageRow[]> {
  const rows = await db.all<LightMessageRow>(sql`SELECT ${LIGHT_COLUMNS} FROM messages WHERE id ${among(db, ids)}`)
  return rows.map(withoutErased)
}

/** These messages, in no order. By primary key. */
export async function listMessages(db: Queries, ids: Iterable<string>): Promise<MessageRow[]> {
  const rows = await db.all<MessageRow>(sql`SELECT ${COLUMNS} FROM messages WHERE id ${among(db, ids)}`)
  return (await withPartsInProgress(db, rows)).map(withoutErased)
}

/**
 * Up to `limit` messages of the thread, depth first, starting just after `cursorPath`, without long texts. By
 * (root_id, path).
 */
export async function listTree(
  db: Queries,
  rootId: string,
  cursorPath: string,
  limit: number,
): Promise<LightMessageRow[]> {
  const rows = await db.all<LightMessageRow>(
    sql`SELECT ${LIGHT_COLUMNS} FROM messages
      WHERE root_id = ${rootId} AND path > ${cursorPath}
      ORDER BY path
      LIMIT ${limit}`,
  )
  return rows.map(withoutErased)
}

/** Up to `limit` pinned messages of a conversation, latest first, without long texts. By (conversation_id, pinned_at). */
export async function listPinned(
  db: Queries,
  conversationId: string,
  before: Micros,
  limit: number,
): Promise<LightMessageRow[]> {
  const rows = await db.all<LightMessageRow>(
    sql`SELECT ${LIGHT_COLUMNS} FROM messages
      WHERE conversation_id = ${conversationId} AND pinned_at IS NOT NULL AND pinned_at < ${before}
          AND deleted_at IS NULL
      ORDER BY pinned_at DESC
      LIMIT ${limit}`,
  )
  return rows.map(withoutErased)
}

/** The messages at these paths of a thread, from the root down. By (root_id, path). */
export async function listAtPaths(db: Queries, rootId: string, paths: string[]): Promise<MessageRow[]> {
  const rows = await db.all<MessageRow>(
    sql`SELECT ${COLUMNS} FROM messages WHERE root_id = ${rootId} AND path ${among(db, paths)} ORDER BY depth`,
  )
  return rows.map(withoutErased)
}
