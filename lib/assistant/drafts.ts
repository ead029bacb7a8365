import { toDelta } from '../chat/answers/rules.ts'
import { toPartEvent } from '../chat/answers/rules-parts.ts'
import type { PartChange } from '../chat/answers/schema-parts.ts'
import { insertChunk, takeIndex } from '../chat/answers/store.ts'
import { insertPart } from '../chat/answers/store-parts.ts'
import { addGenerated } from '../chat/attachments/generated.ts'
import { lockWithClock } from '../chat/memberships/access.ts'
import type { Context } from '../context.ts'
import { wholeBegin } from '../core/whole-begin.ts'
import type { Tx } from '../live/transaction/transaction.ts'
import type { Micros } from '../storage/sql.ts'
import { MAX_ROW_TEXT } from './answer-parts.ts'

/** A chunk of an answer: text, or a part. */
export interface DraftRow {
  content: string
  part?: PartChange
  /** What the provider keeps with it, as JSON. */
  provider_data?: string | undefined
}

/** How many chunks of an answer one transaction stores. */
const MAX_ROWS = 64

/** An answer that this process writes. */
export interface Draft {
  message_id: string
  conversation_id: string
  root_id: string
  parent_id: string | null
  depth: number
  writer: string
  /** Received text that is in no chunk yet. */
  pending: string
  /** The maximum length of a chunk; missing for an answer, of which all that has arrived is one. */
  chunk_length?: number
  /** Chunks that precede the pending text. */
  rows?: DraftRow[]
  /** Chunks whose write has not succeeded yet: they are retried unchanged. */
  taken?: DraftRow[] | undefined
  /** The number of stored chunks. */
  stored: number
  /** Whether this process has lost the answer. */
  isLost?: boolean
  /** Whether nothing new of it is stored: the host is asked before. */
  isHeld?: boolean
  /** The bytes of the texts that the host has not let through. */
  withheld_bytes?: number
  /** The clock of the conversation, if only this answer has changed it since what precedes the answer was read. */
  unchanged_at?: Micros | undefined
}

/** Notes that a transaction of this answer alone has changed its conversation. */
export function noteChange(draft: Draft, { clock, at }: { clock: Micros; at: Micros }): void {
  draft.unchanged_at = draft.unchanged_at === clock ? at : undefined
}

/** Whether it has text that is not stored. */
export function isBehind(draft: Draft): boolean {
  return !draft.isLost && !draft.isHeld && hasText(draft)
}

const hasText = ({ pending, rows, taken }: Draft): boolean =>
  taken !== undefined || pending !== '' || (rows !== undefined && rows.length > 0)

/** The chunks that are kept back for the host. */
export function heldRows(draft: Draft): DraftRow[] {
  if (!draft.isHeld) return []
  return [...(draft.rows ?? []), ...(draft.pending === '' ? [] : [{ content: draft.pending }])]
}

/** Drops what is kept back for the host: it is never stored. */
export function dropHeld(draft: Draft): void {
  const bytes = heldRows(draft).reduce((sum, { content }) => sum + Buffer.byteLength(content), 0)
  if (draft.isHeld) Object.assign(draft, { pending: '', rows: [], withheld_bytes: (draft.withheld_bytes ?? 0) + bytes })
  draft.isHeld = false
}

/** Makes a chunk of the pending text. @returns the number of the chunk that follows all of the draft */
export function endText(draft: Draft): number {
  draft.rows ??= []
  if (draft.pending !== '') draft.rows.push({ content: draft.pending })
  draft.pending = ''
  return draft.stored + (draft.taken?.length ?? 0) + draft.rows.length
}

/** Adds a chunk that is no text, or a text with data of its provider. Text that continues a part joins a waiting chunk of it. */
export function addRow(draft: Draft, row: DraftRow): void {
  endText(draft)
  const last = draft.rows!.at(-1)
  const { delta } = row.part ?? {}
  const joins = last?.part?.id === row.part?.id && !last?.provider_data && !row.provider_data && delta !== undefined
  if (!(joins && extend(last!.part!, delta))) draft.rows!.push(row)
}

/** Adds text to a chunk. @returns false if it would become too long */
function extend(part: PartChange, delta: string): boolean {
  const before = part.text ?? part.delta ?? ''
  if (before.length + delta.length > MAX_ROW_TEXT) return false
  if (part.text !== undefined) part.text += delta
  else part.delta = before + delta
  return true
}

/** Takes the chunks that are stored next. */
function takeRows(draft: Draft): DraftRow[] {
  if (!draft.rows?.length) return [{ content: takeText(draft) }]
  const rows = draft.rows.splice(0, MAX_ROWS)
  return draft.rows.length === 0 && draft.pending !== '' ? [...rows, { content: takeText(draft) }] : rows
}

function takeText(draft: Draft): string {
  const text = wholeBegin(draft.pending, draft.chunk_length)
  draft.pending = draft.pending.slice(text.length)
  return text
}

/**
 * Stores what is new of these answers of one conversation, with its events: text is one chunk. Answers that this process
 * has lost are marked as lost.
 *
 * @throws ChatError `unavailable`, `storage_full`: the caller retries
 */
export async function storeChunks(
  ctx: Pick<Context, 'write' | 'now'>,
  conversationId: string,
  drafts: Draft[],
): Promise<void> {
  for (const draft of drafts) draft.taken ??= takeRows(draft)
  const { held, change } = await ctx.write(async (tx) => {
    const change = await lockWithClock(ctx, tx, conversationId)
    const held = new Set<Draft>()
    if (change === undefined) return { held, change }
    for (const draft of drafts) if (await storeRows(tx, draft, draft.taken!, change.at)) held.add(draft)
    return { held, change }
  })
  const [first] = drafts
  // The texts of several answers may precede one another.
  if (change && first && drafts.length === 1) noteChange(first, change)
  for (const draft of drafts) {
    draft.isLost = !held.has(draft)
    draft.stored += draft.taken!.length
    draft.taken = undefined
  }
}

/** @returns false when this process has lost the answer */
async function storeRows(tx: Tx, draft: Draft, rows: DraftRow[], created_at: number): Promise<boolean> {
  const index = await takeIndex(tx, draft, draft.stored, rows.length)
  // If the connection broke during a commit, the chunks may already be stored.
  if (index !== 'taken') return index === 'known'
  for (const [n, row] of rows.entries()) await storeRow(tx, { ...draft, idx: draft.stored + n }, row, created_at)
  return true
}

async function storeRow(
  tx: Tx,
  place: Draft & { idx: number },
  { content, part, provider_data }: DraftRow,
  created_at: number,
): Promise<void> {
  const { conversation_id, message_id, idx } = place
  const row = { message_id, idx, content, created_at }
  if (part === undefined && provider_data === undefined) tx.defer(insertChunk(tx, row))
  else {
    const stored = { part: part ? JSON.stringify(part) : null, provider_data: provider_data ?? null }
    tx.defer(insertPart(tx, { ...row, ...stored }))
  }
  if (part?.type === 'file') await addGenerated(tx, message_id, part.attachment_id!)
  const event = part
    ? { type: 'message.part' as const, payload: toPartEvent(place, part) }
    : { type: 'message.delta' as const, payload: toDelta(place, content) }
  tx.emit(conversation_id, { ...event, message_id, detail: { idx } })
}
