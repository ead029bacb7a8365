import { AnswerFailure } from '../../chat/answers/answer-failure.ts'
import { parseField } from '../../core/sse-format.ts'
import type { Assistant, AssistantRequest } from '../provider.ts'
import { isOutput, type Said, withAttempts } from './attempts.ts'
import { connectionError, isRefused, readLines, readWhole } from './body.ts'
import { createCalls } from './calls.ts'
import { type Chunk, parseChunk } from './chunk.ts'
import { CallFailure, failureIn, failureOf } from './failures.ts'
import { readFiles } from './files.ts'
import { type Files, toBody } from './messages.ts'
import { PICTURES } from './pictures.ts'
import { createQuote, createSummary } from './redact.ts'
import { TEXTS } from './texts.ts'

/** The address of a model server, and the parameters of its requests. */
export interface OpenAiOptions {
  /** Up to `/v1`, with or without a trailing slash. */
  base_url?: string | undefined
  model: string
  api_key?: string | undefined
  /** Sent with every request; they override the default headers. */
  headers?: [name: string, value: string][]
  /** Whether the model gets the pictures of a thread. Default: only their names. */
  images?: boolean
  /** Whether it gets the texts of files. Default: only their names. */
  text_files?: boolean
  /** The pauses before a call is repeated, in milliseconds. Default: 500 and 2,000. */
  pauses_ms?: readonly number[]
}

const OPENAI_URL = 'https://api.openai.com/v1'

/** The maximum length of a cause in the log. */
type Quote = (said: string) => string

/**
 * Calls any server with OpenAI's chat completions protocol, such as Ollama, llama.cpp and vLLM. It only throws {@link
 * AnswerFailure}; the cause has the status and the code of the server's error, never its text.
 */
export function createOpenAi({
  base_url = OPENAI_URL,
  model,
  api_key,
  headers = [],
  images = false,
  text_files = false,
  pauses_ms,
}: OpenAiOptions): Assistant {
  const url = `${base_url.replace(/\/+$/, '')}/chat/completions`
  const sent = new Headers({ 'content-type': 'application/json' })
  if (api_key) sent.set('authorization', `Bearer ${api_key}`)
  for (const [name, value] of headers) sent.set(name, value)
  const quote = createQuote(secretsOf(api_key, headers))
  const summary = createSummary(quote)

  async function* call(request: AssistantRequest, files: Files): AsyncGenerator<Said> {
    const { signal } = request
    const body = JSON.stringify(toBody(model, request, files))
    const init: RequestInit = { method: 'POST', headers: sent, body, signal, redirect: 'error' }
    const response = await ask(url, init, { quote, summary })
    const read = isJson(response) ? readCompletion : readStream
    const calls = createCalls()
    let isEmpty = true
    let finish_reason: string | undefined
    for await (const { fragments = [], ...chunk } of read(response, summary, signal)) {
      for (const fragment of fragments) calls.add(fragment)
      finish_reason = chunk.finish_reason ?? finish_reason
      for (const piece of piecesOf(chunk)) {
        isEmpty &&= !isOutput(piece)
        yield piece
      }
    }
    for (const tool_call of calls.list()) {
      isEmpty = false
      yield { tool_call }
    }
    if (isEmpty) throw new CallFailure('empty_answer', `ended with ${finish_reason ?? 'no reason'}`, {})
    // A server that breaks an answer off says nothing of it.
    if (finish_reason === undefined) yield { finish_reason: 'unknown' }
  }

  return async function* openAi(request) {
    try {
      const pictures = images ? await readFiles(request, PICTURES) : new Map<string, string>()
      const texts = text_files ? await readFiles(request, TEXTS) : new Map<string, string>()
      for await (const piece of withAttempts((attempt) => call(attempt, { pictures, texts }), request, pauses_ms)) {
        if (request.signal.aborted) return
        yield piece
      }
    } catch (error) {
      // The signal has the reason of an abort.
      if (!request.signal.aborted) throw error
    }
  }
}

/** What is passed on of a chunk: a value for each kind. */
function piecesOf({ reasoning, ...rest }: Omit<Chunk, 'fragments'>): Said[] {
  return [...(reasoning ? [{ reasoning }] : []), ...(Object.keys(rest).length > 0 ? [rest] : [])]
}

async function ask(
  url: string,
  init: RequestInit,
  { quote, summary }: { quote: Quote; summary: Quote },
): Promise<Response> {
  const response = await fetch(url, init).catch((error: unknown) => {
    const cause = quote(connectionError(error))
    throw isRefused(error) ? new CallFailure('provider_error', cause, {}) : new AnswerFailure('provider_error', cause)
  })
  if (response.ok) return response
  // A partly read explanation is enough.
  const said = await readWhole(response.body, init.signal ?? undefined).catch(() => '')
  throw failureOf(response, said, summary(said))
}

/** A response that is not streamed, although a stream was requested. */
async function* readCompletion({ body }: Response, summary: Quote, signal: AbortSignal): AsyncGenerator<Chunk> {
  yield parseChunk(await readWhole(body, signal), summary)
}

async function* readStream({ body }: Response, summary: Quote, signal: AbortSignal): AsyncGenerator<Chunk> {
  let isWhole = false
  try {
    for await (const line of readLines(body, signal)) {
      const event = dataOf(line, summary)
      if (event === '[DONE]') return
      const chunk = event ? parseChunk(event, summary) : {}
      isWhole ||= chunk.finish_reason !== undefined
      if (Object.keys(chunk).length > 0) yield chunk
    }
  } catch (error) {
    // The answer is complete: a lost connection loses nothing of it.
    if (isWhole && error instanceof AnswerFailure && error.code === 'connection_lost') return
    throw error
  }
}

/** The fields of the event stream format; a comment has an empty one. */
const FIELDS = ['', 'data', 'event', 'id', 'retry']

/** The data of a line; nothing for a comment, another field, or the end of an event. */
function dataOf(line: string, summary: Quote): string | undefined {
  const [field, value] = parseField(line)
  // llama.cpp reports a failure in a field of its own.
  if (field === 'error') throw failureIn(line, summary(line))
  if (!FIELDS.includes(field)) throw new AnswerFailure('invalid_answer', summary(line))
  return field === 'data' ? value.trim() : undefined
}

function isJson({ headers }: Response): boolean {
  return /^application\/([\w.-]+\+)?json\b/i.test(headers.get('content-type') ?? '')
}

/** The key, and for each header its value and the last word of it: the token after `Bearer`. */
function secretsOf(api_key: string | undefined, headers: [name: string, value: string][]): string[] {
  return [...(api_key ? [api_key] : []), ...headers.flatMap(([, value]) => [value, value.split(' ').at(-1)!])]
}
