import { AnswerFailure } from '../chat/answers/answer-failure.ts'
import { INTERRUPTED } from '../chat/answers/ending.ts'
import type { AnswerEnd } from '../chat/answers/store.ts'
import type { GeneratedFile } from '../chat/attachments/generated.ts'
import type { Metadata } from '../chat/conversations/schema-metadata.ts'
import type { MessageRow } from '../chat/messages/store.ts'
import type { Context } from '../context.ts'
import { ChatError } from '../core/errors.ts'
import type { StoredFile } from './answer-parts.ts'
import type { AskedCall } from './asked-calls.ts'
import type { AssistantSettings } from './assistants.ts'
import { withResult } from './call-results.ts'
import { readAnswer, type WholeAnswer } from './openai/answer.ts'
import type { CheckedFile, CheckedPart } from './pieces.ts'
import type { AssistantRequest, GivenPart, OfferedTool } from './provider.ts'
import type { ContextReader } from './runs/context-reader.ts'

/** The reason of an abort: the answer was ended in the database, or the service stops. */
export const ENDED = new Error('The answer has ended')
export const STOPPING = new Error('The service stops')

/** The end of an answer, or of one step of it. */
export interface AnswerOutcome {
  end: AnswerEnd
  /** Replaces that of the question. */
  metadata?: Metadata | undefined
  /** The calls of tools that the provider asks for, in their order; none of a step that has failed. */
  calls: AskedCall[]
  /** Why the host withdraws the answer. */
  withdrawal?: string
}

/** One call of the provider for an answer. */
export interface Step {
  /** From 1. */
  step: number
  /** The parts that earlier steps have written. */
  so_far: GivenPart[]
  /** What may be called; nothing in the last step. */
  tools: OfferedTool[]
}

const ONLY_STEP: Step = { step: 1, so_far: [], tools: [] }

/** Where an answer goes while it is read. */
export interface AnswerOutput {
  /** @param provider_data what the provider keeps with it, as JSON */
  text(text: string, provider_data?: string): void
  /** @throws AnswerFailure for a part that the answer may not have */
  part(part: CheckedPart): void
  /** @throws AnswerFailure as for other parts */
  file(file: StoredFile, provider_data?: string): void
}

/** The bytes of a file that a user may read. */
export type OpenFile = (userId: string, attachmentId: string) => AsyncIterable<Uint8Array>

/** Stores a file for an answer to a user. @throws ChatError as an upload of the user */
export type SaveFile = (userId: string, conversationId: string, file: GeneratedFile) => Promise<StoredFile>

type AskContext = Pick<Context, 'metrics' | 'log'> & {
  assistant: AssistantSettings
  openFile: OpenFile
  saveFile: SaveFile
  readContext: ContextReader
}

/**
 * Runs the provider for a message, or one step of it, within the configured time.
 *
 * @param output gets each chunk
 * @returns the end of the step, which is that of the answer if it has no calls; `undefined` if the answer {@link ENDED}
 *   elsewhere
 */
export async function ask(
  ctx: AskContext,
  row: MessageRow,
  control: AbortController,
  output: AnswerOutput,
  step = ONLY_STEP,
): Promise<AnswerOutcome | undefined> {
  const { signal } = control
  const timeout = setTimeout(() => control.abort(new AnswerFailure('timeout')), ctx.assistant.timeout_seconds * 1000)
  try {
    const { finish_reason, usage, metadata, calls } = await read(ctx, row, { ...step, signal }, output)
    return { end: { status: 'complete', finish_reason, usage }, metadata, calls }
  } catch (caught) {
    return outcomeOfFailure(ctx, row.id, signal.aborted ? signal.reason : caught)
  } finally {
    clearTimeout(timeout)
  }
}

/** How an answer ends with a failure, or the reason of an abort; `undefined` if it {@link ENDED} elsewhere. */
export function outcomeOfFailure(
  ctx: Pick<Context, 'log'>,
  message_id: string,
  error: unknown,
): AnswerOutcome | undefined {
  if (error === ENDED) return undefined
  if (error === STOPPING) return { end: INTERRUPTED, calls: [] }
  const failure = error instanceof AnswerFailure ? error : new AnswerFailure('provider_error', error)
  const { code, retry_after_seconds } = failure
  ctx.log.warn('An answer failed', { message_id, code, ...causeOf(failure) })
  return { end: { status: 'failed', finish_reason: 'failed', failure: code, retry_after_seconds }, calls: [] }
}

async function read(
  ctx: AskContext,
  row: MessageRow,
  asked: Step & { signal: AbortSignal },
  output: AnswerOutput,
): Promise<WholeAnswer> {
  const started = performance.now()
  const { signal, so_far } = asked
  const pieces = ctx.assistant.write(await toRequest(ctx, row, asked))
  let isFirst = true
  const onText: AnswerOutput['text'] = (...text) => {
    if (isFirst) ctx.metrics.firstDelta((performance.now() - started) / 1000)
    isFirst = false
    output.text(...text)
  }
  const written_bytes = so_far.reduce((sum, part) => sum + (part.type === 'text' ? Buffer.byteLength(part.text) : 0), 0)
  const bounds = { signal, answer_bytes: ctx.assistant.answer_bytes, written_bytes }
  const onFile = async ({ file, provider_data }: CheckedFile) => {
    const { name, bytes } = file
    const saved = ctx.saveFile(row.posted_by!, row.conversation_id, { name, bytes, signal }).catch((error) => {
      if (signal.aborted) throw signal.reason
      throw new AnswerFailure(isRefused(error) ? 'invalid_answer' : 'provider_error', error)
    })
    output.file(await saved, provider_data)
  }
  const isShown = (part: CheckedPart) => ctx.assistant.reasoning === 'show' || !('reasoning' in part)
  return readAnswer(pieces, bounds, onText, (part) => isShown(part) && output.part(part), onFile)
}

async function toRequest(
  ctx: AskContext,
  row: MessageRow,
  asked: Step & { signal: AbortSignal },
): Promise<AssistantRequest> {
  const { id: message_id, conversation_id, root_id } = row
  const requested_by = row.posted_by!
  const { turns, conversation } = await ctx.readContext(asked.signal)
  return {
    ...{ message_id, conversation_id, root_id, requested_by },
    assistant: ctx.assistant.key,
    purpose: 'answer',
    conversation,
    metadata: row.metadata === null ? {} : JSON.parse(row.metadata),
    ...asked,
    so_far: asked.so_far.map(withResult),
    turns,
    open: openerOf(ctx, [...turns, { attachments: filesIn(asked.so_far) }], { requested_by, signal: asked.signal }),
  }
}

/** What a file is not to blame for. */
const NOT_NOW: readonly string[] = ['unavailable', 'rate_limited', 'storage_full']

/** Whether the service would refuse a file again, rather than have no place for it at the moment. */
const isRefused = (error: unknown) => error instanceof ChatError && !NOT_NOW.includes(error.code)

const filesIn = (parts: readonly GivenPart[]) =>
  parts.flatMap((part) => (part.type === 'file' ? { id: part.attachment_id } : []))

/** Opens the files of these turns, and no others: the text of a message must not lead a provider to another file. */
function openerOf(
  { openFile }: AskContext,
  turns: readonly { attachments?: readonly { id: string }[] }[],
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

/** The cause of a failure, if known; a provider may throw anything. */
function causeOf({ cause }: AnswerFailure): { cause?: string } {
  if (cause === undefined) return {}
  if (cause instanceof Error) return { cause: `${cause.name}: ${cause.message}` }
  return { cause: typeof cause === 'string' ? cause : 'something that is no error was thrown' }
}
