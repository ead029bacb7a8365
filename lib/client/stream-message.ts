import type { EndInput, Message, RootInput } from '../api/client-entities.ts'
import { ChatError } from '../core/chat-error.ts'
import type { NamesOf } from '../core/known-names.ts'
import { wholeLength } from '../core/whole-text.ts'
import { createBackoff, isTransient, pause } from './backoff.ts'
import { newKey } from './new-key.ts'
import { refuseUnknown } from './options.ts'
import type { ChatClient } from './types.ts'

/** What a message that is streamed begins with. */
export interface StreamMessageInput extends Pick<RootInput, 'metadata' | 'invocation_id'> {
  /** The message that it replies to; left out, it begins a thread. */
  parent_id?: string
  /** A second message with the same key is the first one. Default: a new one */
  idempotency_key?: string
}

const INPUT: NamesOf<StreamMessageInput> = { parent_id: 0, metadata: 0, invocation_id: 0, idempotency_key: 0 }

/** A message that a bot writes piece by piece. */
export interface ClientMessageStream {
  message_id: string
  root_id: string
  /** Aborts when the message has ended otherwise: cancelled, deleted, or without a call of this client for too long. */
  signal: AbortSignal
  /**
   * Adds text; resolves when the service may take more. After the end of the message it does nothing.
   *
   * @throws what a chunk was refused with
   */
  write(text: string): Promise<void>
  /**
   * Sends the rest of the text and ends the message: its mentions, notifications and files come with it. One that has ended
   * otherwise stays as it is. With a chunk that was refused, the message has `failed`.
   *
   * @returns the message
   * @throws what a chunk, or the end, was refused with
   */
  end(input?: Omit<EndInput, 'failed'>): Promise<Message>
  /** Sends the rest of the text and ends the message as failed. */
  fail(): Promise<Message>
}

/** A chunk has at most 16 KiB: a UTF-16 unit takes at most 3 bytes of UTF-8. */
const CHUNK_LENGTH = 5_461

/** The service takes 20 chunks a second. */
const CHUNK_PAUSE_MS = 60

/** The service keeps a message for 30 seconds after a call. */
const IDLE_MS = 10_000

/** How much text may wait before `write` does. */
const MAX_PENDING = 65_536

const FIRST_RETRY_MS = 250

/** Later, the service has interrupted the message. */
const MAX_RETRY_MS = 45_000

/**
 * Begins a message of a bot that is written piece by piece: a new thread, or a reply with `parent_id`. What was received is
 * sent on as chunks, each again after a failure that may pass, so that the service stores each once.
 *
 * @throws ChatError as `messages.postRoot` and `messages.reply`; TypeError for what is no client, and for an unknown name in `input`
 * @example
 * const stream = await streamMessage(client, conversation_id, { parent_id })
 * for await (const piece of pieces) await stream.write(piece)
 * await stream.end()
 */
export async function streamMessage(
  client: ChatClient,
  conversation_id: string,
  input: StreamMessageInput = {},
): Promise<ClientMessageStream> {
  if (typeof client?.answers?.addChunk !== 'function')
    throw new TypeError('streamMessage needs a client: pass what createChatClient returned')
  refuseUnknown('streamMessage', input, INPUT)
  const { parent_id, idempotency_key = newKey(), ...more } = input
  const control = new AbortController()
  const { signal } = control
  const begin = { ...more, stream: true }
  const options = { headers: { 'idempotency-key': idempotency_key } }
  const { message_id, root_id } = await persistently(signal, () =>
    parent_id === undefined
      ? client.messages.postRoot(conversation_id, begin, options)
      : client.messages.reply(parent_id, begin, options),
  )
  const state: {
    /** Text that no chunk has yet. */
    pending: string
    /** The number of the next chunk. */
    idx: number
    sending?: Promise<void> | undefined
    idle?: ReturnType<typeof setTimeout>
    /** Why a chunk was refused: the message has not all of its text. */
    failure?: unknown
  } = { pending: '', idx: 0 }

  async function send(content: string): Promise<void> {
    clearTimeout(state.idle)
    const chunk = { idx: state.idx, content }
    const { status } = await persistently(signal, () => client.answers.addChunk(message_id, chunk))
    if (content !== '') state.idx++
    if (status !== 'streaming') control.abort()
    waitIdle()
  }

  /** Prolongs the message when there is no text for a while. */
  function waitIdle(): void {
    if (!signal.aborted) state.idle = setTimeout(() => flush({ isIdle: true }).catch(() => {}), IDLE_MS)
  }

  /** The next chunk; half a surrogate pair waits for the other half. */
  function takeChunk(): string {
    const part = state.pending.slice(0, CHUNK_LENGTH)
    const content = part.slice(0, wholeLength(part))
    state.pending = state.pending.slice(content.length)
    return content
  }

  async function sendAll(isIdle: boolean): Promise<void> {
    try {
      if (isIdle) await send('')
      for (let content = takeChunk(); content !== '' && !signal.aborted; content = takeChunk()) {
        await send(content)
        await pause(CHUNK_PAUSE_MS, signal)
      }
    } catch (error) {
      state.failure = error
      control.abort(error)
      throw error
    } finally {
      state.sending = undefined
    }
  }

  function flush({ isIdle = false } = {}): Promise<void> {
    if (!signal.aborted) state.sending ??= sendAll(isIdle)
    return state.sending ?? Promise.resolve()
  }

  async function finish(input: EndInput): Promise<Message> {
    while (state.sending || (!signal.aborted && wholeLength(state.pending) > 0)) await flush().catch(() => {})
    clearTimeout(state.idle)
    if (state.failure) {
      await client.answers.end(message_id, { failed: true }).catch(() => {})
      throw state.failure
    }
    const { message } = await persistently(undefined, () => client.answers.end(message_id, input))
    control.abort()
    return message
  }

  signal.addEventListener('abort', () => clearTimeout(state.idle))
  waitIdle()
  return {
    message_id,
    root_id,
    signal,
    async write(text) {
      if (signal.aborted) return
      state.pending += text
      const sent = flush()
      if (state.pending.length > MAX_PENDING) await sent
      // Its failure ends the message.
      else sent.catch(() => {})
    },
    end: (input = {}) => finish(input),
    fail: () => finish({ failed: true }),
  }
}

/** Repeats a call that may be repeated, while its failure may pass, for a time. */
async function persistently<T>(signal: AbortSignal | undefined, attempt: () => Promise<T>): Promise<T> {
  const backoff = createBackoff(FIRST_RETRY_MS)
  const end = performance.now() + MAX_RETRY_MS
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!isTransient(error) || signal?.aborted || performance.now() > end) throw error
      await pause(backoff.next(((error instanceof ChatError && error.retry_after_seconds) || 0) * 1000), signal)
    }
  }
}
