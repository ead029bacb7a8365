import { readRows } from '../../chat/answers/service-rows.ts'
import type { Opening } from '../../chat/events/service.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { type Chat, findChatFor } from '../chats/finding.ts'
import { findNewestAnswer, findRunning } from '../chats/store-place.ts'
import { listWaitingCalls } from '../rows/rules.ts'
import { readAllRows } from '../rows/segments.ts'
import { openEvents } from './frames.ts'
import { readHistory, readWaiting } from './history.ts'
import { type Run, toEnd, toInterrupt, toRunStarted, toSnapshotEvent, toSuccess } from './rules.ts'
import { readKnown } from './rules-input.ts'
import type { AgUiRunInput } from './schema.ts'
import { streamRun, toRun } from './streaming.ts'

/**
 * The messages of a chat, and the answer that is written there, from its first row; else the end of the newest one.
 *
 * @throws ChatError `not_found` for a chat that is deleted; `too_many_streams`; `unavailable`
 */
export async function connectTo(ctx: Context, actor: Actor, input: AgUiRunInput): Promise<Opening> {
  const chat = await findChatFor(ctx, ctx.db, actor, input.threadId)
  const id = chat && (await findShown(ctx, actor, chat))
  if (!chat || id === undefined) return openEmpty(ctx, actor, input, chat)
  const name = chat.name
  const run = { ...toRun(input), run_id: id }
  const { question_ids } = readKnown(input)
  const { message } = await readRows.run(ctx, actor, id, { from: 0, limit: 0 })
  if (message.status === 'streaming') {
    const takeBefore = once(await readHistory(ctx, actor, name, { leaf: id, running_id: id, question_ids }))
    return streamRun(ctx, actor, id, { name, run, question_ids, takeBefore })
  }
  if (message.status === 'waiting') return openWaiting(ctx, actor, { name, run, id, question_ids })
  const snapshot = await readHistory(ctx, actor, name, { leaf: id, question_ids })
  return openEvents([toRunStarted(run, message), toSnapshotEvent(snapshot), toEnd(run, message)])
}

/** Gives a value once, and keeps it no longer. */
function once<T>(value: T): () => T | undefined {
  let kept: T | undefined = value
  return () => {
    const given = kept
    kept = undefined
    return given
  }
}

/**
 * The answer that is written in a chat: that of the actor before those of others; else the actor's own that waits, without which
 * the next question is refused; else the newest one.
 */
async function findShown(ctx: Context, { user_id }: Actor, { name, root_id }: Chat): Promise<string | undefined> {
  const asker = { user_id, name }
  const running =
    (await findRunning(ctx.db, asker, { waiting: false })) ??
    (await findRunning(ctx.db, asker, { waiting: true, is_own: true }))
  if (running) return running.message_id
  return root_id === null ? undefined : (await findNewestAnswer(ctx.db, root_id))?.id
}

/** A chat without an answer. */
async function openEmpty(ctx: Context, actor: Actor, input: AgUiRunInput, chat: Chat | undefined): Promise<Opening> {
  const run = toRun(input)
  const { question_ids } = readKnown(input)
  const isBegun = chat !== undefined && chat.root_id !== null
  const snapshot = isBegun
    ? await readHistory(ctx, actor, chat.name, { question_ids })
    : { messages: [], has_earlier: false }
  return openEvents([toRunStarted(run), toSnapshotEvent(snapshot), toSuccess(run)])
}

async function openWaiting(
  ctx: Context,
  actor: Actor,
  { name, run, id, question_ids }: { name: string; run: Run; id: string; question_ids: ReadonlyMap<string, string> },
): Promise<Opening> {
  const { message, rows } = await readAllRows(ctx, actor, id)
  // Decided meanwhile.
  if (message.status !== 'waiting') return streamRun(ctx, actor, id, { name, run, question_ids })
  const snapshot = await readWaiting(ctx, actor, name, { message_id: id, rows, question_ids })
  return openEvents([toRunStarted(run, message), toSnapshotEvent(snapshot), toInterrupt(run, listWaitingCalls(rows))])
}
