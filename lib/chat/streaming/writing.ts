import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError, causeText } from '../../core/errors.ts'
import { isStorable } from '../../core/schema.ts'
import { parseKnown } from '../../core/use-case.ts'
import { wholeLength } from '../../core/whole-text.ts'
import type { AnswerEnd } from '../answers/store.ts'
import { unlessOutside } from '../memberships/access.ts'
import type { Message, PostedMessage } from '../messages/schema.ts'
import { get, post } from '../messages/service.ts'
import { findMessage, findPlaceOf } from '../messages/store.ts'
import { completeStreamed, reviewStreamed } from './completing.ts'
import { type EndInput, StreamEnd, StreamInput } from './schema.ts'

/** A message that is written piece by piece. */
export interface MessageStream {
  message_id: string
  root_id: string
  /** Aborts when the message was cancelled, deleted or taken from the process, after `bots.stream_seconds`, and when the service stops. */
  signal: AbortSignal
  /**
   * Adds text. After the end of the message it does nothing.
   *
   * @throws ChatError `validation_failed` beyond `limits.message_bytes`, and for a text with NUL or lone surrogates
   */
  write(text: string): Promise<void>
  /**
   * Ends the message: its mentions, notifications and files come with it. One that has ended stays as it is.
   *
   * @returns the message after its end
   * @throws ChatError `forbidden`, `conflict` for mentions; `not_found`, `attachment_not_ready`, `attachment_refused` for a file;
   *   `unavailable` when `hooks.beforeMessage` fails. The message then is still written, and can be ended again
   */
  end(input?: StreamEnd): Promise<Message>
  /** Ends the message as failed: its text stays. */
  fail(): Promise<Message>
}

/**
 * Begins a message that this process writes piece by piece: a new thread, or a reply with `parent_id`. For bots and system actors.
 *
 * @throws ChatError as `messages.postRoot` and `messages.reply`; `forbidden` for a person; `conflict` beyond `bots.max_streaming`,
 *   and for a message with the same key that was begun before; `unavailable` once the service stops
 */
export async function stream(
  ctx: Context,
  actor: Actor,
  conversation_id: string,
  input: StreamInput = {},
): Promise<MessageStream> {
  const { parent_id, ...more } = parseKnown(StreamInput, input)
  if (parent_id !== undefined && (await findPlaceOf(ctx.db, parent_id)) !== conversation_id)
    throw new ChatError('not_found')
  const where = parent_id === undefined ? { conversation_id } : { parent_id }
  const act = parent_id === undefined ? 'post' : 'reply'
  const begun = { actor, input: { content: '', stream: true, ...more }, where, writer: ctx.answers.writer }
  const posted = await post(ctx, begun).catch(unlessOutside(ctx, actor, { conversation_id }, act))
  if (posted.idempotency_replayed)
    throw new ChatError('conflict', { message: 'A message with this key was begun before.' })
  return createStream(ctx, actor, posted)
}

function createStream(ctx: Context, actor: Actor, posted: PostedMessage): MessageStream {
  const { message_id, root_id, conversation_id, parent_id = null, depth } = posted
  const hosted = ctx.answers.takeHosted({ message_id, root_id, conversation_id, parent_id, depth })
  const { signal } = hosted
  const text = createText(ctx.config.limits.message_bytes)
  let ending: Promise<Message> | undefined
  const timer = setTimeout(() => {
    finish({}, { isLate: true }).catch((error) =>
      ctx.log.warn('A message that was streamed for too long could not be ended', {
        message_id,
        cause: causeText(error),
      }),
    )
  }, ctx.config.bots.stream_seconds * 1000)
  timer.unref()
  signal.addEventListener('abort', () => clearTimeout(timer), { once: true })

  function finish(input: EndInput, options: { isLate?: boolean } = {}): Promise<Message> {
    ending ??= complete(input, options).catch((error) => {
      ending = undefined
      throw error
    })
    return ending
  }

  async function complete(input: EndInput, { isLate }: { isLate?: boolean }): Promise<Message> {
    const row = signal.aborted ? undefined : await findMessage(ctx.db, message_id)
    if (row?.status === 'streaming') {
      const status = await settle({ ...row, content: text.whole() }, input, isLate)
      clearTimeout(timer)
      if (isLate) ctx.answers.ended(message_id, status)
      else if (status) ctx.metrics.answered(status)
      hosted.close()
    }
    return get.run(ctx, actor, message_id)
  }

  /** @returns how it has ended; `undefined` if that was not here */
  async function settle(row: NonNullable<Awaited<ReturnType<typeof findMessage>>>, input: EndInput, isLate = false) {
    const reviewed = await reviewStreamed(ctx, actor, row, input)
    const completion = { actor, input, asked: row.content, reviewed, writer: ctx.answers.writer, isLate }
    let result: AnswerEnd['status'] | ChatError | undefined
    await hosted.settle(async (tx) => {
      const status = await completeStreamed(ctx, tx, row, completion).catch((error) => {
        // Nothing was written yet. The others are tried again.
        if (!(error instanceof ChatError) || TRANSIENT.has(error.code)) throw error
        return error
      })
      result = status === 'changed' ? undefined : status
      return result !== undefined
    })
    if (result instanceof ChatError) throw result
    return result
  }

  return {
    message_id,
    root_id,
    signal,
    async write(piece) {
      const ready = text.add(piece)
      if (!ending && ready !== '') hosted.add(ready)
    },
    end: async (input = {}) => finish(parseKnown(StreamEnd, input)),
    fail: () => finish({ failed: true }),
  }
}

/** The failures of a transaction that is tried again. */
const TRANSIENT: ReadonlySet<string> = new Set(['unavailable', 'storage_full'])

/** Collects a text: half a surrogate pair waits for the other half. */
function createText(most: number) {
  let text = ''
  let bytes = 0
  let half = ''
  return {
    whole: () => text,
    /** @returns what can be stored now @throws ChatError `validation_failed` */
    add(piece: string): string {
      const all = half + piece
      const ready = all.slice(0, wholeLength(all))
      const size = Buffer.byteLength(ready)
      const message = isStorable(ready)
        ? bytes + size > most && `must be at most ${most} bytes of UTF-8 in all`
        : 'must be text without NUL and lone surrogates'
      if (message) throw new ChatError('validation_failed', { errors: [{ path: 'text', message }] })
      text += ready
      bytes += size
      half = all.slice(ready.length)
      return ready
    },
  }
}
