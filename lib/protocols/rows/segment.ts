import { MAX_ROWS, readRows, type WrittenPiece } from '../../chat/answers/service-rows.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { findEndOf } from './rules.ts'

/** All rows of an answer. @throws ChatError `not_found` */
export async function readAllRows(ctx: Context, actor: Actor, messageId: string): Promise<WrittenPiece[]> {
  const all: WrittenPiece[] = []
  for (;;) {
    const { rows, is_whole } = await readRows.run(ctx, actor, messageId, { from: all.length, limit: MAX_ROWS })
    all.push(...rows)
    if (is_whole || rows.length === 0) return all
  }
}

/** The number of the row behind which the segment begins that follows a decision on these calls. @throws ChatError `not_found` */
export async function findSegmentOf(
  ctx: Context,
  actor: Actor,
  messageId: string,
  callIds: ReadonlySet<string>,
): Promise<number> {
  return findEndOf(await readAllRows(ctx, actor, messageId), callIds)
}
