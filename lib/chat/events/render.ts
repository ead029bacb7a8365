import type { Photos } from '../../accounts/users/photos.ts'
import { listVisible, toPerson } from '../../accounts/users/store-people.ts'
import { countWithin } from '../../core/pages.ts'
import { toInstant } from '../../core/time.ts'
import type { EventRow, NumberedEvent } from '../../live/log/log.ts'
import type { Queries } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'
import { FAILURES, type FailureCode } from '../answers/schema-failures.ts'
import { type ChunkEvent, type ChunkRange, listChunkEvents, listDeltaSizes } from '../answers/store-parts.ts'
import { readApprovals } from '../approvals/reading.ts'
import { listConversationFields, toFields } from '../memberships/store-conversations.ts'
import { withTexts } from '../messages/completing.ts'
import { toPostedRow } from '../messages/rules-streamed.ts'
import { listLightMessages, type MessageRow, toMessage } from '../messages/store.ts'
import { listReactionStates, type ReactionState, reactionsOf } from '../messages/store-reactions.ts'
import { listReplyStates, type ReplyStateRow, toReplyState } from '../messages/store-replies.ts'
import { listSummaries, listThreadTitles, toSummary } from '../threads/store.ts'
import { composePrivate } from './render-private.ts'
import type { PersistedEvent } from './schema.ts'
import { listNotErased } from './store.ts'

/** With what events are composed. */
export interface Reading {
  photos: Photos
  /** What expires is left out from then on. */
  now: Micros
}

/**
 * The events of some rows of a log, composed of the current data: no replay has a deleted text, and an event has the
 * current state of its message. As many of them as may be read at once, and at least the first.
 */
export async function compose(db: Queries, lines: EventRow[], { photos, now }: Reading): Promise<NumberedEvent[]> {
  const light = await loadBy('id', lines, 'message_id', isAboutMessage, (ids) => listLightMessages(db, ids))
  const reactions = await loadBy('id', lines, 'message_id', isAboutReactions, (ids) => listReactionStates(db, ids))
  const sizes = await loadSizes(db, lines)
  const sizeOf = (row: EventRow) =>
    (isChunk(row)
      ? sizes.get(chunkId(row))
      : (isAboutMessage(row) ? light : isAboutReactions(row) ? reactions : undefined)?.get(row.message_id!)?.size) ?? 0
  const rows = lines.slice(0, countWithin(lines.map(sizeOf)))
  const messages = await loadBy('id', rows, 'message_id', isAboutMessage, (ids) =>
    withTexts(
      db,
      [...ids].flatMap((id) => light.get(id) ?? []),
    ),
  )
  const states = await loadStates(
    db,
    rows.flatMap((row) => (COUNTED.has(row.type) ? (messages.get(row.message_id!) ?? []) : [])),
  )
  const by = await loadBy('id', rows, 'user_id', isBySomeone, (ids) => listNotErased(db, ids))
  const people = await loadBy('id', rows, 'user_id', isMerge, (ids) => listVisible(db, ALL, ids))
  const chunks = await loadChunks(db, rows)
  const threads = await loadBy('root_id', rows, 'message_id', isAboutThread, (ids) => listSummaries(db, ids))
  const titles = await loadBy('root_id', rows, 'message_id', isAboutTitle, (ids) => listThreadTitles(db, ids))
  const conversations = await loadBy('id', rows, 'conversation_id', isAboutConversation, (ids) =>
    listConversationFields(db, ids),
  )
  const approvals = await readApprovals(db, new Set(rows.filter(isAboutApproval).map(callIdOf)))
  const privates = await composePrivate(db, rows, now)

  function eventOf(row: EventRow): PersistedEvent | undefined {
    const { type, conversation_id } = row
    if (row.for_user_id !== null) return privates.get(row)
    switch (type) {
      case 'membership.changed':
        return toMembership(row)
      case 'conversation.updated': {
        const conversation = conversations.get(conversation_id)
        return conversation && { type, payload: { conversation: toFields(conversation) } }
      }
      case 'user.merged': {
        const person = people.get(row.user_id!)
        const { from_user_id } = JSON.parse(row.detail!) as { from_user_id: string }
        return person && { type, payload: { conversation_id, from_user_id, user: toPerson(person, photos) } }
      }
      case 'pin.changed':
        return toPinChanged(row, by.has(row.user_id!))
      case 'reactions.changed': {
        const state = reactions.get(row.message_id!)
        return state && toReactionsChanged(row, state, by.has(row.user_id!))
      }
      case 'thread.new': {
        const thread = threads.get(row.message_id!)
        return thread && { type, payload: { conversation_id, root_id: thread.root_id, summary: toSummary(thread) } }
      }
      case 'thread.updated': {
        const thread = titles.get(row.message_id!)
        return thread && { type, payload: { conversation_id, root_id: thread.root_id, title: thread.title ?? '' } }
      }
      case 'approval.changed': {
        const approval = approvals.get(callIdOf(row))
        return approval && { type, payload: { approval } }
      }
      case 'message.delta':
      case 'message.part': {
        const { id: _, ...event } = chunks.get(chunkId(row)) ?? {}
        return 'type' in event ? event : undefined
      }
      default: {
        const message = messages.get(row.message_id!)
        return message && toMessageEvent(row, message, states.get(message.root_id))
      }
    }
  }

  return rows.map((row) => {
    const event = eventOf(row)
    const { seq, conversation_id, created_at: at, for_user_id } = row
    return { seq, conversation_id, at, ...(for_user_id !== null && { for_user_id }), ...(event && { event }) }
  })
}

const isChunk = (row: EventRow) => row.type === 'message.delta' || row.type === 'message.part'
const isAboutApproval = (row: EventRow) => row.type === 'approval.changed'
const callIdOf = (row: EventRow) => (JSON.parse(row.detail!) as { call_id: string }).call_id
const isAboutMessage = (row: EventRow) =>
  (row.type.startsWith('message.') && !isChunk(row)) || row.type === 'attachment.changed'
const isAboutReactions = (row: EventRow) => row.type === 'reactions.changed'
const isBySomeone = (row: EventRow) => (row.type === 'pin.changed' || isAboutReactions(row)) && row.user_id !== null
const isAboutThread = (row: EventRow) => row.type === 'thread.new'
const isAboutTitle = (row: EventRow) => row.type === 'thread.updated'
const isMerge = (row: EventRow) => row.type === 'user.merged'
const isAboutConversation = (row: EventRow) => row.type === 'conversation.updated'

/** The log has ids of users only where its readers may see them. */
const ALL = { user_id: '', seesAll: true }

/** The events that change the number of replies of a thread. */
const COUNTED: ReadonlySet<string> = new Set(['message.new', 'message.deleted', 'message.restored'])

/** The threads of those of these messages that are replies, by root. */
async function loadStates(db: Queries, messages: MessageRow[]): Promise<Map<string, ReplyStateRow>> {
  const rootIds = new Set(messages.flatMap(({ root_id, parent_id }) => (parent_id === null ? [] : root_id)))
  const rows = rootIds.size > 0 ? await listReplyStates(db, rootIds) : []
  return new Map(rows.map((row) => [row.root_id, row]))
}

/** The rows that the column `by` of some log rows refers to, by their column `key`. */
async function loadBy<K extends string, T extends Record<K, string>>(
  key: K,
  rows: EventRow[],
  by: 'message_id' | 'conversation_id' | 'user_id',
  wanted: (row: EventRow) => boolean,
  load: (ids: Set<string>) => Promise<T[]>,
): Promise<Map<string, T>> {
  const ids = new Set(rows.filter(wanted).map((row) => row[by]!))
  return new Map((ids.size > 0 ? await load(ids) : []).map((row) => [row[key], row]))
}

function toMembership({ conversation_id, user_id, detail }: EventRow): PersistedEvent {
  return { type: 'membership.changed', payload: { conversation_id, user_id: user_id!, ...JSON.parse(detail ?? '{}') } }
}

/** @param isKnown false if the user is erased: the event does not name the user then */
function toPinChanged(row: EventRow, isKnown: boolean): PersistedEvent {
  const { conversation_id, user_id, detail, created_at } = row
  const { at = created_at, ...change } = JSON.parse(detail!) as PinDetail
  const ids = { message_id: row.message_id!, conversation_id, ...(isKnown && { user_id: user_id! }) }
  return { type: 'pin.changed', payload: { ...ids, ...change, at: toInstant(at) } }
}

interface PinDetail {
  action: 'added' | 'removed'
  root_id: string
  /** When it was pinned, for a pin whose user was erased. */
  at?: Micros
}

/** @param isKnown as {@link toPinChanged} */
function toReactionsChanged({ user_id, detail }: EventRow, state: ReactionState, isKnown: boolean): PersistedEvent {
  const { id: message_id, root_id, conversation_id } = state
  const change = JSON.parse(detail!) as { action: 'added' | 'removed' | 'cleared'; emoji?: string }
  const payload = { message_id, root_id, conversation_id, ...(isKnown && { user_id: user_id! }), ...change }
  return { type: 'reactions.changed', payload: { ...payload, reactions: reactionsOf(state) } }
}

/** @param state the thread of a reply */
function toMessageEvent(
  { type, detail }: EventRow,
  row: MessageRow,
  state: ReplyStateRow | undefined,
): PersistedEvent | undefined {
  const { id: message_id, root_id, conversation_id } = row
  if (type === 'message.done') {
    const message = toMessage(row)
    const { finish_reason = '', usage } = message
    const end = { message_id, root_id, conversation_id, finish_reason, ...(usage && { usage }) }
    // What it mentions, its files and its metadata come at its end.
    const hasMore = row.role !== 'assistant' || row.metadata !== null || row.attachment_list
    return { type, payload: { ...end, ...(hasMore && { message }) } }
  }
  if (type === 'message.failed') {
    const { code, ...more } = JSON.parse(detail!) as { code: FailureCode; retry_after_seconds?: number }
    return { type, payload: { message_id, root_id, conversation_id, code, message: FAILURES[code], ...more } }
  }
  if (type === 'attachment.changed') {
    const { attachment_id } = JSON.parse(detail!) as { attachment_id: string }
    // Not of a deleted message, and not once an edit has removed it.
    const attachment = toMessage(row).attachments?.find((attachment) => attachment.id === attachment_id)
    return attachment && { type, payload: { message_id, root_id, conversation_id, attachment } }
  }
  const message = type === 'message.new' ? toMessage(toPostedRow(row)) : toMessage(row)
  const thread = state && row.parent_id !== null && COUNTED.has(type) && { root_id, ...toReplyState(state) }
  return { type, payload: { message, ...(thread && { thread }) } } as PersistedEvent
}

const chunkId = ({ message_id, detail }: EventRow) => `${message_id}:${indexOf(detail)}`
const indexOf = (detail: string | null) => (JSON.parse(detail!) as { idx: number }).idx

/** The ranges of chunks that some log rows refer to. Consecutive chunks of a message form one range. */
function rangesIn(rows: EventRow[]): ChunkRange[] {
  const ranges = new Map<string, ChunkRange>()
  for (const row of rows) {
    if (!isChunk(row)) continue
    const message_id = row.message_id!
    const last = indexOf(row.detail)
    ranges.set(message_id, { message_id, first: ranges.get(message_id)?.first ?? last, last })
  }
  return [...ranges.values()]
}

/** The size of the chunks that some log rows refer to, by id. */
async function loadSizes(db: Queries, rows: EventRow[]): Promise<Map<string, number>> {
  const ranges = rangesIn(rows)
  const sizes = ranges.length > 0 ? await listDeltaSizes(db, ranges) : []
  return new Map(sizes.map(({ message_id, idx, size }) => [`${message_id}:${idx}`, size]))
}

/** The events of the chunks that some log rows refer to, by id. */
async function loadChunks(db: Queries, rows: EventRow[]): Promise<Map<string, ChunkEvent>> {
  const ranges = rangesIn(rows)
  const chunks = ranges.length > 0 ? await listChunkEvents(db, ranges) : []
  return new Map(chunks.map((chunk) => [chunk.id, chunk]))
}
