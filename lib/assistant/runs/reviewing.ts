import { toList } from '../../chat/attachments/rules.ts'
import { listAttachments, listOfMessage, toAttachment } from '../../chat/attachments/store.ts'
import { askAboutAnswer } from '../../chat/hooks/after-answer.ts'
import type { HookContext } from '../../chat/hooks/before.ts'
import { toStored } from '../../chat/memberships/store-conversations.ts'
import type { Message } from '../../chat/messages/schema.ts'
import { findMessage, toMessage } from '../../chat/messages/store.ts'
import { asInterrupted, type PartRow, partsOfRows } from '../../core/stored-parts.ts'
import { listRows } from '../../storage/answer-parts.ts'
import type { Queries } from '../../storage/database.ts'
import { type AnswerOutcome, outcomeOfFailure } from '../ask.ts'
import type { ChunkWriter } from '../chunk-writer.ts'
import { type Draft, dropHeld, heldRows } from '../drafts.ts'
import { aborted } from './run-calls.ts'

/** An answer under way in this process. */
type ReviewedRun = Draft & { control: AbortController }

/** What a step has written, for the host to see before it is stored, or before the answer is complete. */
export type Review = (run: ReviewedRun, outcome: AnswerOutcome) => Promise<AnswerOutcome | undefined>

/**
 * Asks the host about answers that are complete and, of those that are kept back for it, about what a step has written before
 * it calls tools. What was kept back is stored next, or dropped: of an answer that has failed nothing is stored unseen.
 */
export function createReview(
  ctx: HookContext & { db: Queries },
  chunkWriter: Pick<ChunkWriter, 'settle' | 'release'>,
): Review {
  async function read(run: ReviewedRun, outcome: AnswerOutcome): Promise<Message | undefined> {
    if (run.isHeld) return readMessage(ctx.db, run, outcome)
    let message: Message | undefined
    // After its last text.
    await chunkWriter.settle(run, async (tx) => {
      message = await readMessage(tx, run, outcome)
      return true
    })
    return message
  }

  return async (run, outcome) => {
    const { end, calls } = outcome
    const { signal } = run.control
    if (end.status !== 'complete') {
      dropHeld(run)
      return outcome
    }
    if (ctx.host.hooks.afterAnswer && (calls.length === 0 || heldRows(run).length > 0)) {
      const message = await read(run, outcome)
      if (!message) return undefined
      const withdrawal = await Promise.race([askAboutAnswer(ctx, message), aborted(signal)])
      if (signal.aborted || withdrawal !== undefined) {
        dropHeld(run)
        return withdrawal === undefined
          ? outcomeOfFailure(ctx, run.message_id, signal.reason)
          : withdrawn(end, withdrawal)
      }
    }
    if (run.isHeld) chunkWriter.release(run)
    return outcome
  }
}

/** What the provider has counted is used, although no reader gets the answer. */
const withdrawn = ({ usage }: AnswerOutcome['end'], withdrawal: string): AnswerOutcome => ({
  end: { status: 'failed', finish_reason: 'failed', failure: 'refused', usage },
  withdrawal,
  calls: [],
})

/** An answer as it will be, with what is not stored yet. @returns `undefined` once its message is gone */
async function readMessage(
  db: Queries,
  run: Draft,
  { end, metadata, calls }: AnswerOutcome,
): Promise<Message | undefined> {
  const row = await findMessage(db, run.message_id)
  if (!row) return undefined
  const held = heldRows(run).map(({ content, part }): PartRow => {
    return { content, part: part ? JSON.stringify(part) : null }
  })
  const rows = [...(await listRows(db, run.message_id)), ...held]
  const isOver = calls.length === 0
  const parts = partsOfRows(rows)
  return toMessage({
    ...row,
    content: rows.map(({ content }) => content).join(''),
    parts: rows.some(({ part }) => part !== null) ? '[]' : null,
    whole_parts: isOver ? parts.map(asInterrupted) : parts,
    attachment_list: await listFiles(db, run),
    ...(metadata && { metadata: toStored(metadata) }),
    ...(isOver && {
      status: end.status,
      finish_reason: end.finish_reason,
      usage: end.usage ? JSON.stringify(end.usage) : null,
    }),
  })
}

/** The files of an answer, with those that are kept back. */
async function listFiles(db: Queries, run: Draft): Promise<string | null> {
  const held = heldRows(run).flatMap(({ part }) => (part?.type === 'file' ? part.attachment_id! : []))
  const [stored, made] = await Promise.all([
    listOfMessage(db, run.message_id),
    held.length > 0 ? listAttachments(db, held) : [],
  ])
  return toList([
    ...stored.map(toAttachment),
    ...made.map((row) => ({ ...toAttachment(row), generated: true as const })),
  ])
}
