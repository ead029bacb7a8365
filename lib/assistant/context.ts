import { findShownNames } from '../accounts/users/store.ts'
import { type Ancestor, bytesOfParts, onPath, toTurns, writersOf } from '../chat/answers/rules-context.ts'
import type { ContextTurn } from '../chat/answers/schema-context.ts'
import { findPlaceOfAnswer, type PlaceOfAnswer } from '../chat/answers/store-context.ts'
import { listGivenRowsOf } from '../chat/answers/store-parts.ts'
import { filesOfQuestion } from '../chat/attachments/rules.ts'
import { layoutOf } from '../chat/memberships/rules-look.ts'
import { withTexts } from '../chat/messages/completing.ts'
import { pathsDownTo } from '../chat/messages/rules.ts'
import {
  findMessage,
  type LightMessageRow,
  listAtPaths,
  listLightMessages,
  type MessageRow,
} from '../chat/messages/store.ts'
import { listQuotedTexts } from '../chat/messages/store-quotes.ts'
import { listOlder } from '../chat/timeline/store.ts'
import type { Queries } from '../storage/database.ts'
import type { Micros } from '../storage/sql.ts'
import type { AssistantSettings } from './assistants.ts'
import { type CallValues, toEarlierParts } from './earlier-parts.ts'
import type { AssistantRequest, Turn } from './provider.ts'
import { toGivenParts } from './so-far.ts'

/** How many messages an assistant gets at most. */
const MAX_MESSAGES = 200

/** How many messages before a thread its first question gets. */
const BEFORE_ROOT = 20

/** What decides what an assistant gets. */
type ContextSettings = Pick<AssistantSettings, 'system_prompt' | 'context_bytes' | 'context' | 'names'>

/** What an assistant gets before it answers. */
export interface AnswerContext {
  /** Its instructions, those of the conversation, and the messages before. */
  turns: Turn[]
  conversation: AssistantRequest['conversation']
  /** The clock of the conversation before they were read; missing for one that is deleted at this moment. */
  clock?: Micros | undefined
  /** The names of users that the turns have, by id. */
  names: ReadonlyMap<string, string>
}

/** Values of calls of these answers that their rows do not have. */
export type HiddenOf = (db: Queries, messageIds: readonly string[]) => Promise<CallValues>

/** What an assistant gets before it answers. */
export async function readContext(
  db: Queries,
  settings: ContextSettings,
  row: MessageRow,
  hiddenOf: HiddenOf,
): Promise<AnswerContext> {
  const { system_prompt, context_bytes: bytes } = settings
  const place = await findPlaceOfAnswer(db, row)
  const isByArrival = isThreadRead(settings, place)
  const before = isByArrival ? await listByArrival(db, row, bytes) : await listAtPaths(db, row.root_id, pathsOf(row))
  const asked = before.map((message) => (message.id === row.id ? asQuestion(message) : message))
  const messages = await withQuotedTexts(db, asked)
  // Many model servers take one system message only.
  const prompts = [system_prompt, place?.assistant_prompt].filter((prompt) => prompt)
  const writers = writersOf(messages, settings.names)
  const names = writers.length > 0 ? await findShownNames(db, writers) : new Map<string, string>()
  const turns = toTurns(await withGivenParts(db, messages, { bytes, hiddenOf }), {
    ...(prompts.length > 0 && { system_prompt: prompts.join('\n\n') }),
    bytes,
    context: JSON.parse(place?.context ?? '[]') as ContextTurn[],
    names,
  })
  return { turns, conversation: toConversation(row.conversation_id, place), clock: place?.clock, names }
}

/** @param place `undefined` for one that is deleted at this moment */
function toConversation(id: string, place: PlaceOfAnswer | undefined): AssistantRequest['conversation'] {
  const { title = '', ref = null, metadata = null } = place ?? {}
  return { id, title, ...(ref !== null && { ref }), ...(metadata !== null && { metadata: JSON.parse(metadata) }) }
}

/** The answer before it has anything but its question: what earlier steps have written is no turn. */
function asQuestion(row: MessageRow): MessageRow {
  return {
    ...row,
    content: '',
    parts: null,
    attachment_list: row.prompt === null ? null : filesOfQuestion(row.attachment_list),
  }
}

function isThreadRead({ context }: ContextSettings, place: PlaceOfAnswer | undefined): boolean {
  return context === 'thread' || (context === 'auto' && place !== undefined && layoutOf(place) === 'stream')
}

const pathsOf = ({ path }: MessageRow) => pathsDownTo(path).slice(-MAX_MESSAGES)

/**
 * The newest messages of a thread before an answer, by arrival, and of variants those above the answer; for a question that is
 * a root those of the conversation. The question is the last one.
 */
async function listByArrival(db: Queries, row: MessageRow, bytes: number): Promise<MessageRow[]> {
  const parent = row.prompt === null && row.parent_id !== null ? await findMessage(db, row.parent_id) : undefined
  const question = parent ?? row
  const isRoot = question.parent_id === null
  const list = isRoot
    ? ({ view: 'all', id: row.conversation_id, from: 0 } as const)
    : ({ view: 'thread', id: row.root_id, from: 0 } as const)
  const before = await listOlder(db, list, question.created_at, isRoot ? BEFORE_ROOT : MAX_MESSAGES - 1)
  const light = await listLightMessages(
    db,
    before.map(({ id }) => id),
  )
  light.sort((one, other) => other.created_at - one.created_at)
  let room = bytes
  // Longer texts are not even read if they do not fit.
  const fitting = onPath(light, row).filter((each) => {
    if (each.deleted_at) return false
    room -= sizeOf(each)
    return room >= 0
  })
  const messages = await withTexts(db, fitting.reverse())
  return parent ? [...messages, parent, row] : [...messages, row]
}

/** The least bytes of what is sent of a message. The size of a long one may have its text twice, once in its parts. */
function sizeOf({ content, prompt, size }: LightMessageRow): number {
  return content === null ? size / 2 : Buffer.byteLength(content) + Buffer.byteLength(prompt ?? '')
}

/** How many answers with parts are read at a time: they may be long, and only some of them fit. */
const ANSWERS_AT_ONCE = 8

/**
 * Adds the parts of answers, latest first, until there is no room for more: the messages before those are left out. Without
 * such answers, by no statement.
 */
async function withGivenParts<Message extends MessageRow & Ancestor>(
  db: Queries,
  messages: Message[],
  { bytes, hiddenOf }: { bytes: number; hiddenOf: HiddenOf },
): Promise<Message[]> {
  const kept: Message[] = []
  const rest = [...messages]
  let room = bytes
  while (rest.length > 0 && room >= 0) {
    const batch = rest.splice(-ANSWERS_AT_ONCE)
    const withParts = await addGivenParts(db, batch, hiddenOf)
    kept.unshift(...withParts)
    for (const { content, given_parts = [] } of withParts)
      room -= Buffer.byteLength(content) + bytesOfParts(given_parts)
  }
  return kept
}

async function addGivenParts<Message extends MessageRow & Ancestor>(
  db: Queries,
  messages: Message[],
  hiddenOf: HiddenOf,
): Promise<Message[]> {
  const ids = messages.flatMap(({ id, parts, edited_at, deleted_at }) => (parts && !edited_at && !deleted_at ? id : []))
  if (ids.length === 0) return messages
  const hidden = await hiddenOf(db, ids)
  const rows = await listGivenRowsOf(db, ids)
  return messages.map((message) => {
    const own = rows.get(message.id)
    return own ? { ...message, given_parts: toEarlierParts(toGivenParts(own), hidden) } : message
  })
}

/** Adds the texts that messages quote. */
async function withQuotedTexts(db: Queries, rows: MessageRow[]): Promise<(MessageRow & Ancestor)[]> {
  const ids = rows.flatMap(({ quote_id, deleted_at }) => (quote_id && !deleted_at ? quote_id : []))
  if (ids.length === 0) return rows
  const texts = await listQuotedTexts(db, rows[0]!.conversation_id, ids)
  const textBy = new Map(texts.filter(({ content }) => content !== '').map((text) => [text.id, text]))
  return rows.map((row) => ({ ...row, quoted_text: textBy.get(row.quote_id ?? '') }))
}
