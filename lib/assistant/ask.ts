import { setTimeout as sleep } from 'node:timers/promises'
import { AnswerFailure } from '../chat/answers/answer-failure.ts'
import { INTERRUPTED } from '../chat/answers/ending.ts'
import type { AnswerEnd } from '../chat/answers/store.ts'
import type { Metadata } from '../chat/conversations/schema-metadata.ts'
import type { MessageRow } from '../chat/messages/store.ts'
import type { Context } from '../context.ts'
import { ChatError } from '../core/errors.ts'
import type { AssistantSettings } from './assistants.ts'
import { RETRY_MS } from './chunk-writer.ts'
import { readContext } from './context.ts'
import { readAnswer, type WholeAnswer } from './openai/answer.ts'
import type { CheckedPart } from './pieces.ts'
import type { AssistantRequest, Turn } from './provider.ts'

/** The reason of an abort: the answer was ended in the database, or the service stops. */
export const ENDED = new Error('The answer has ended')
export const STOPPING = new Error('The service stops')

/** The end of an answer. */
export interface AnswerOutcome {
  end: AnswerEnd
  /** Replaces that of the question. */
  metadata?: Metadata | undefined
}

/** Where an answer goes while it is read. */
export interface AnswerOutput {
  /** @param provider_data what the provider keeps with it, as JSON */
  text(text: string, provider_data?: string): void
  /** @throws AnswerFailure for a part that the answer may not have */
  part(part: CheckedPart): void
}

/** The bytes of a file that a user may read. */
export type OpenFile = (userId: string, attachmentId: string) => AsyncIterable<Uint8Array>

type AskContext = Pick<Context, 'db' | 'metrics' | 'log'> & { assistant: AssistantSettings; openFile: OpenFile }

/**
 * Runs the provider for a message, within the configured time.
 *
 * @param output gets each chunk
 * @returns the end of the answer; `undefined` if it {@link ENDED} elsewhere
 */
export async function ask(
  ctx: AskContext,
  row: MessageRow,
  control: AbortController,
  output: AnswerOutput,
): Promise<AnswerOutcome | undefined> {
  const { signal } = control
  const timeout = setTimeout(() => control.abort(new AnswerFailure('timeout')), ctx.assistant.timeout_seconds * 1000)
  try {
    const { finish_reason, usage, metadata } = await read(ctx, row, signal, output)
    return { end: { status: 'complete', finish_reason, usage }, metadata }
  } catch (caught) {
    const error = signal.aborted ? signal.reason : caught
    if (error === ENDED) return undefined
    if (error === STOPPING) return { end: INTERRUPTED }
    const failure = error instanceof AnswerFailure ? error : new AnswerFailure('provider_error', error)
    const { code, retry_after_seconds } = failure
    ctx.log.warn('An answer failed', { message_id: row.id, code, ...causeOf(failure) })
    return { end: { status: 'failed', finish_reason: 'failed', failure: code, retry_after_seconds } }
  } finally {
    clearTimeout(timeout)
  }
}

async function read(ctx: AskContext, row: MessageRow, signal: AbortSignal, output: AnswerOutput): Promise<WholeAnswer> {
  const started = performance.now()
  const { id: message_id, conversation_id, root_id } = row
  const turns = await readTurns(ctx, row, signal)
  const requested_by = row.posted_by!
  const open = openerOf(ctx, turns, { requested_by, signal })
  const place = { message_id, conversation_id, root_id }
  const pieces = ctx.assistant.write({ ...place, requested_by, assistant: ctx.assistant.key, turns, open, signal })
  let isFirst = true
  const onText: AnswerOutput['text'] = (...text) => {
    if (isFirst) ctx.metrics.firstDelta((performance.now() - started) / 1000)
    isFirst = false
    output.text(...text)
  }
  return readAnswer(pieces, { signal, answer_bytes: ctx.assistant.answer_bytes }, onText, output.part)
}

/** Opens the files of these turns, and no others: the text of a message must not lead a provider to another file. */
function openerOf(
  { openFile }: AskContext,
  turns: Turn[],
  { requested_by, signal }: { requested_by: string; signal: AbortSignal },
): AssistantRequest['open'] {
  const ids = new Set(turns.flatMap(({ attachments = [] }) => attachments.map(({ id }) => id)))
  return async function* open(id) {
    if (!ids.has(id)) throw new ChatError('not_found')
    for await (const piece of openFile(requested_by, id)) {
      signal.throwIfAborted()
      yield piece
    }
  }
}

/** The messages that precede the answer. A busy storage does not fail an answer while there is time left. */
async function readTurns({ assistant, db }: AskContext, row: MessageRow, signal: AbortSignal): Promise<Turn[]> {
  for (;;) {
    try {
      return await readContext(db, assistant, row)
    } catch (error) {
      if (!(error instanceof ChatError && error.code === 'unavailable')) throw error
    }
    await sleep(RETRY_MS, undefined, { signal })
  }
}

/** The cause of a failure, if known; a provider may throw anything. */
function causeOf({ cause }: AnswerFailure): { cause?: string } {
  if (cause === undefined) return {}
  if (cause instanceof Error) return { cause: `${cause.name}: ${cause.message}` }
  return { cause: typeof cause === 'string' ? cause : 'something that is no error was thrown' }
}
