import { get as getApproval } from '../../chat/approvals/service.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { isUnderWay } from '../../core/message-status.ts'
import { askInChat } from '../chats/asking.ts'
import { fileAddressesOf } from '../chats/file-addresses.ts'
import { assertInChat } from '../chats/finding.ts'
import { findRunning } from '../chats/store-place.ts'
import { type DecidedAnswer, decideAndFollow } from '../rows/deciding.ts'
import { type AnswerRow, listWaitingCalls } from '../rows/rules.ts'
import { readAllRows } from '../rows/segments.ts'
import { type RunDecision, readDecisions, readQuestion } from './rules-input.ts'
import { keyOfRun, rememberRun } from './run-ids.ts'
import type { AgUiResumeInput, AgUiRunRequest } from './schema.ts'

/** What a run is about: an answer, and what of it follows; or one whose interrupts are open, and stay so. */
export type RunAnswer = DecidedAnswer | { message_id: string; span: 'all' } | { message_id: string; is_open: true }

/**
 * Asks, or decides on the calls that a run answers.
 *
 * @throws ChatError as `askInChat` and `approvals.decide`; `validation_failed` without a question
 */
export function askOrDecide(ctx: Context, actor: Actor, request: AgUiRunRequest): Promise<RunAnswer> {
  const { resume } = request
  return resume?.length ? decide(ctx, actor, request, resume) : ask(ctx, actor, request)
}

async function ask(ctx: Context, actor: Actor, request: AgUiRunRequest): Promise<RunAnswer> {
  const { threadId: name, runId: run_id, idempotency_key, host } = request
  const { user_id } = actor
  const key = idempotency_key ?? keyOfRun({ name, run_id })
  try {
    const question = readQuestion(request, fileAddressesOf(ctx.config, host))
    const { message_id } = await askInChat(ctx, actor, { ...question, name, key })
    if (idempotency_key !== undefined) await rememberRun(ctx, actor, { name, run_id }, message_id)
    return { message_id, span: 'all' }
  } catch (error) {
    if (!(error instanceof ChatError) || error.code !== 'message_streaming') throw error
    const running = await findRunning(ctx.db, { user_id, name }, { waiting: true })
    if (running?.status !== 'waiting') throw error
    return { message_id: running.message_id, is_open: true }
  }
}

async function decide(
  ctx: Context,
  actor: Actor,
  { threadId: name, runId: run_id }: AgUiRunRequest,
  resume: readonly AgUiResumeInput[],
): Promise<RunAnswer> {
  const decisions = readDecisions(resume)
  const { message_id } = await getApproval.run(ctx, actor, decisions[0]!.call_id)
  await assertInChat(ctx, actor, name, message_id)
  const { message, rows: before } = await readAllRows(ctx, actor, message_id)
  if (isUnderWay(message) && leavesOpen(before, decisions)) return { message_id, is_open: true }
  const answer = await decideAndFollow(ctx, actor, message_id, { decisions, before })
  // A refused one may be sent again as something else.
  await rememberRun(ctx, actor, { name, run_id }, message_id)
  return answer
}

/**
 * Whether decisions on some of the calls that wait leave others, also while other calls still run. What is repeated decides on none
 * of them.
 */
function leavesOpen(rows: readonly AnswerRow[], decisions: readonly RunDecision[]): boolean {
  const callIds = new Set(decisions.map(({ call_id }) => call_id))
  const waiting = listWaitingCalls(rows)
  const decided = waiting.filter(({ call_id }) => callIds.has(call_id))
  return decided.length > 0 && decided.length < waiting.length
}
