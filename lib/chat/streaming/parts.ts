import { isDeepStrictEqual } from 'node:util'
import type { Context } from '../../context.ts'
import { ChatError, turnedOff } from '../../core/errors.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { isBeyondLimits, MAX_USED } from '../answers/rules-limits.ts'
import { toPartEvent } from '../answers/rules-parts.ts'
import type { Chunk } from '../answers/schema.ts'
import type { PartChange } from '../answers/schema-parts.ts'
import { insertPart, listPartChanges } from '../answers/store-parts.ts'
import { addGenerated, roomForFiles } from '../attachments/generated.ts'
import { chooseFiles } from '../attachments/rules.ts'
import { lockAttachments, toAttachment } from '../attachments/store.ts'
import type { MessageRow } from '../messages/store.ts'
import type { ChunkInput, StreamedPart } from './schema.ts'

/** Whether a chunk that is stored is this one. */
export function isStored(chunk: Pick<Chunk, 'content' | 'part'> | undefined, input: ChunkInput): boolean {
  if ('content' in input) return chunk?.content === input.content
  if (!chunk?.part) return false
  const { id: _, ...stored } = chunk.part
  const { part } = input
  if (part.type === 'file') return stored.type === 'file' && stored.attachment_id === part.attachment_id
  return isDeepStrictEqual(stored, JSON.parse(JSON.stringify(part)))
}

/** Where a part of a streamed message comes. */
interface PartPlace {
  row: MessageRow
  idx: number
  at: number
  user_id: string
}

/**
 * Stores a part of a message that is streamed, whose number is taken, with its event; the message gets its file.
 *
 * @throws ChatError `validation_failed` beyond what a message may have; `not_found`, `attachment_not_ready`, `attachment_refused`
 *   for a file
 */
export async function storePart(
  ctx: Context,
  tx: Tx,
  { row, idx, at, user_id }: PartPlace,
  part: StreamedPart,
): Promise<void> {
  const { id: message_id, conversation_id, root_id } = row
  const before = await listPartChanges(tx, message_id)
  const fields = part.type === 'file' ? await takeFile(ctx, tx, { row, user_id }, part.attachment_id) : part
  const change: PartChange = { id: idOf(before, part) ?? idx, ...fields }
  assertFits([...before, change])
  await insertPart(tx, {
    ...{ message_id, idx, content: '', part: JSON.stringify(change), provider_data: null },
    created_at: at,
  })
  const payload = toPartEvent({ message_id, root_id, conversation_id, idx }, change)
  tx.emit(conversation_id, { type: 'message.part', message_id, detail: { idx }, payload })
}

/** Data of the same name and key are one part. */
function idOf(before: readonly PartChange[], part: StreamedPart): number | undefined {
  if (part.type !== 'data') return undefined
  return before.find(({ type, name, key }) => type === 'data' && name === part.name && key === part.key)?.id
}

/** Gives the message a file that the program has uploaded. */
async function takeFile(
  { config, now }: Context,
  tx: Tx,
  { row, user_id }: Pick<PartPlace, 'row' | 'user_id'>,
  attachment_id: string,
): Promise<Omit<PartChange, 'id'>> {
  const { enabled, scan } = config.attachments
  if (!enabled) throw turnedOff('attachments.enabled')
  const { id: message_id, conversation_id } = row
  const rows = await lockAttachments(tx, [attachment_id])
  const [file] = chooseFiles(rows, [attachment_id], { user_id, conversation_id, message_id, now: now(), scan })
  if (file!.message_id === null && (await roomForFiles(tx, message_id)) === 0)
    throw tooMuch('has as many files as it may')
  await addGenerated(tx, message_id, attachment_id)
  const { name, type: media_type, size } = toAttachment(file!)
  return { type: 'file', attachment_id, name, media_type, size }
}

/** @throws ChatError `validation_failed` */
function assertFits(changes: readonly PartChange[]): void {
  const sizes = changes.map((change) => Buffer.byteLength(JSON.stringify(change)))
  if (sizes.at(-1)! > MAX_LENGTH.part) throw tooMuch(`must be at most ${MAX_LENGTH.part} bytes of JSON`)
  const parts = new Set(changes.map(({ id }) => id)).size
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  if (!isBeyondLimits({ parts, rows: changes.length, bytes })) return
  const most = `${MAX_USED.parts} parts, ${MAX_USED.rows} chunks and ${MAX_USED.bytes} bytes of JSON`
  throw tooMuch(`must be at most ${most} in all, beside the text`)
}

const tooMuch = (message: string) => new ChatError('validation_failed', { errors: [{ path: 'part', message }] })
