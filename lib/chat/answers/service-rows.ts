import * as v from 'valibot'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { isUnderWay } from '../../core/message-status.ts'
import { countWithin } from '../../core/pages.ts'
import { useCase } from '../../core/use-case.ts'
import type { Metadata } from '../conversations/schema-metadata.ts'
import { requireReader } from '../memberships/access.ts'
import type { MessageStatus, Usage } from './schema.ts'
import type { FailureCode } from './schema-failures.ts'
import type { PartChange } from './schema-parts.ts'
import { listChunkSizes } from './store.ts'
import { findWritten, listStoredRows, type StoredRow, type WrittenRow } from './store-rows.ts'

/** A message that has rows: an answer, or a text that a program streams. */
export interface Written {
  id: string
  conversation_id: string
  root_id: string
  parent_id?: string
  parent_role?: string
  /** The first answer of its set, of a variant. */
  variant_of?: string
  assistant?: string
  status: MessageStatus
  finish_reason?: string
  failure?: FailureCode
  usage?: Usage
  metadata?: Metadata
  created_at: number
}

/** A row, with the instant of its transaction. */
export interface WrittenPiece {
  idx: number
  row: string | PartChange
  at: number
}

/** A page of the rows of a message, and how far the message had come at that moment. */
export interface WrittenPage {
  message: Written
  rows: WrittenPiece[]
  /** Whether the page ends with the last row so far. */
  is_whole: boolean
}

/** The most rows that are read at once. */
export const MAX_ROWS = 1_000

const Whole = v.pipe(v.number(), v.integer(), v.minValue(0))

const RowsQuery = v.object({
  from: v.optional(Whole, 0),
  limit: v.optional(v.pipe(Whole, v.maxValue(MAX_ROWS)), MAX_ROWS),
})

/**
 * The rows of an answer, or of a text that a program streams, from a number on. Once it is edited it has its new text alone.
 *
 * @throws ChatError `not_found`, also for a deleted one and for a message that was not written in rows
 */
export const readRows = useCase({
  takes: ['actor', 'message_id'],
  input: RowsQuery,
  errors: ['not_found'],
  run: (ctx, actor, messageId, { from, limit }): Promise<WrittenPage> => {
    return ctx.db.snapshot(async (db) => {
      const row = await findWritten(db, messageId)
      await requireReader(ctx, db, actor, row?.conversation_id)
      if (row!.is_gone) throw new ChatError('not_found')
      const message = toWritten(row!)
      if (!isWritten(row!)) throw new ChatError('not_found')
      if (row!.content !== null) {
        const rows = from === 0 && limit > 0 ? [{ idx: 0, row: row!.content, at: row!.created_at }] : []
        return { message, rows, is_whole: true }
      }
      // None is read: it only tells of the message.
      if (limit === 0) return { message, rows: [], is_whole: false }
      const sizes = await listChunkSizes(db, messageId, from, limit + 1)
      const count = Math.min(limit, countWithin(sizes.map(({ size }) => size)))
      const last = sizes[count - 1]
      const rows = last ? await listStoredRows(db, messageId, from, last.idx) : []
      return { message, rows: rows.map(toPiece), is_whole: count === sizes.length }
    })
  },
})

/**
 * What a message with rows is now, without a look at rights: for streams whose right to read it is looked up elsewhere.
 *
 * @throws ChatError `not_found` for a deleted one
 */
export async function lookAtWritten(
  { db }: Context,
  messageId: string,
): Promise<{ message: Written; is_edited: boolean }> {
  const row = await findWritten(db, messageId)
  if (!row || row.is_gone) throw new ChatError('not_found')
  return { message: toWritten(row), is_edited: row.content !== null }
}

/** @throws ChatError `not_found` for a user who reads the conversation no longer */
export async function assertReads(ctx: Context, actor: Actor, conversationId: string): Promise<void> {
  await requireReader(ctx, ctx.db, actor, conversationId)
}

/** Whether it is an answer, or a text that a program streams: a message that was posted as a whole has no reason for its end. */
function isWritten({ role, finish_reason, status }: WrittenRow): boolean {
  return role === 'assistant' || finish_reason !== null || isUnderWay({ status })
}

function toPiece({ idx, content, part, created_at }: StoredRow): WrittenPiece {
  return { idx, row: part === null ? content : (JSON.parse(part) as PartChange), at: created_at }
}

function toWritten(row: WrittenRow): Written {
  const { id, conversation_id, root_id, parent_id, variant_of, assistant, status, created_at } = row
  const { finish_reason, failure, usage, metadata } = row
  return {
    id,
    conversation_id,
    root_id,
    ...(parent_id !== null && { parent_id, parent_role: row.parent_role! }),
    ...(variant_of !== null && { variant_of }),
    ...(assistant !== null && { assistant }),
    status,
    ...(finish_reason !== null && { finish_reason }),
    ...(failure !== null && { failure }),
    ...(usage !== null && { usage: JSON.parse(usage) as Usage }),
    ...(metadata !== null && { metadata: JSON.parse(metadata) as Metadata }),
    created_at,
  }
}
