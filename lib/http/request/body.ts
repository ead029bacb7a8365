import type { IncomingMessage } from 'node:http'
import type { Config } from '../../config/parse.ts'
import { readAtMost } from '../../core/body.ts'
import { ChatError } from '../../core/errors.ts'
import { type BodyLimits, parseJson, utf8 } from '../../core/json-body.ts'

/** How long a body of JSON or of a form may take, where Node's own limit is that of parts of files. */
export function bodyTimeout({ attachments, server }: Config): number | undefined {
  return attachments.enabled ? server.request_timeout_seconds : undefined
}

/**
 * The value of a JSON body.
 *
 * @throws ChatError `payload_too_large`; `malformed_json` for invalid JSON or UTF-8, for a body that is too deep or
 *   complex, or that contains `__proto__`
 */
export async function readJson(source: BodySource, limits: BodyLimits): Promise<unknown> {
  const bytes = await readBytes(source, limits.bytes, limits.seconds)
  return parseJson(() => utf8.decode(bytes), limits)
}

/**
 * The value of the JSON in a field of a form, or of a JSON body.
 *
 * @throws ChatError as {@link readJson}; `unsupported_media_type` for a form without the field
 */
export async function readBody(
  { body: source, headers }: { body: BodySource; headers: Headers },
  limits: BodyLimits,
  field: string | undefined,
): Promise<unknown> {
  if (field === undefined || !isForm(headers)) return readJson(source, limits)
  const text = (await readForm(source, headers, limits)).get(field)
  if (text === undefined) throw new ChatError('unsupported_media_type')
  return parseJson(() => text, limits)
}

/**
 * Waits for the first byte or the end of a stream that no header tells anything about. To be called once the caller is
 * known: it may take any time.
 *
 * @throws ChatError `unsupported_media_type` if it has any bytes: what they ask for would be left out silently
 */
export async function refuseBody(source: BodySource): Promise<undefined> {
  if (source === null || !('getReader' in source)) return undefined
  if (source.locked) throw new ChatError('malformed_json', { message: BODY_IS_GONE })
  const { isWhole } = await readAtMost(source, 0)
  if (!isWhole) throw new ChatError('unsupported_media_type')
}

/** Whether a body is a form. */
export function isForm(headers: Headers): boolean {
  return FORM.test(headers.get('content-type') ?? '')
}

const FORM = /^application\/x-www-form-urlencoded\s*(?:;\s*charset\s*=\s*utf-8\s*)?$/i

/** A body from any runtime. */
export type BodySource = IncomingMessage | ReadableStream<Uint8Array> | null

async function readBytes(source: BodySource, maximum: number, seconds?: number): Promise<Uint8Array> {
  if (source === null) return new Uint8Array()
  return 'getReader' in source ? readWeb(source, maximum) : readNode(source, maximum, seconds)
}

/**
 * The fields of a form of a page, each once.
 *
 * @throws ChatError as {@link readParams}
 */
export async function readForm(
  source: BodySource,
  headers: Headers,
  limits: Pick<BodyLimits, 'bytes' | 'seconds'>,
): Promise<Map<string, string>> {
  return new Map(await readParams(source, headers, limits))
}

/**
 * The fields of a form as they were sent.
 *
 * @throws ChatError `payload_too_large`; `unsupported_media_type`; `malformed_json` for invalid UTF-8
 */
export async function readParams(
  source: BodySource,
  headers: Headers,
  { bytes: maximum, seconds }: Pick<BodyLimits, 'bytes' | 'seconds'>,
): Promise<URLSearchParams> {
  if (Number(headers.get('content-length') ?? 0) > maximum) throw new ChatError('payload_too_large')
  if (!isForm(headers)) throw new ChatError('unsupported_media_type')
  const bytes = await readBytes(source, maximum, seconds)
  try {
    return new URLSearchParams(utf8.decode(bytes))
  } catch (cause) {
    throw new ChatError('malformed_json', { cause })
  }
}

function readNode(request: IncomingMessage, maximum: number, seconds?: number): Promise<Uint8Array> {
  if (request.readableEnded) return Promise.resolve(readParsed(request, maximum))
  if (request.complete && request.readableFlowing === null) return Promise.resolve(readBuffered(request, maximum))
  // Its client has left while it waited for its turn: there will be no further event.
  if (request.destroyed) return Promise.reject(endedEarly())
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    // Not `for await`: leaving such a loop early would cut the connection before the answer.
    const timer = seconds === undefined ? undefined : setTimeout(() => timeOut(request), seconds * 1000)
    const done = (settle: () => void) => {
      clearTimeout(timer)
      request.off('data', onData).off('end', onEnd).off('error', onError).off('close', onError)
      settle()
    }
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size <= maximum) chunks.push(chunk)
      else done(() => reject(new ChatError('payload_too_large')))
    }
    const onEnd = () => done(() => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
    const onError = () => done(() => reject(endedEarly()))
    request.on('data', onData).on('end', onEnd).on('error', onError).on('close', onError)
  })
}

function endedEarly(): ChatError {
  return new ChatError('malformed_json', { message: 'The body ended early.' })
}

/** What Node does when a request takes too long. */
function timeOut({ socket }: IncomingMessage): void {
  socket.end('HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n')
  socket.destroySoon()
}

/**
 * A body that the host, or a parser of it, has read: its bytes or text if they are left, as `express.raw` and
 * `express.text` do, or the value that was made of them. It is checked like any other body.
 */
function readParsed(request: IncomingMessage, maximum: number): Uint8Array {
  const { body, rawBody = body } = request as { body?: unknown; rawBody?: unknown }
  const left = rawBody instanceof Uint8Array || typeof rawBody === 'string' ? rawBody : toJson(body)
  if (left.length > maximum || Buffer.byteLength(left) > maximum) throw new ChatError('payload_too_large')
  return typeof left === 'string' ? Buffer.from(left) : left
}

function toJson(value: unknown): string {
  const isObject = typeof value === 'object' && value !== null
  const isJson = isObject && (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype)
  if (!isJson) throw new ChatError('malformed_json', { message: BODY_IS_GONE })
  return JSON.stringify(value)
}

const BODY_IS_GONE = 'The application has read the body before the chat, and left no bytes, no text and no JSON object.'

/** A body that has arrived completely, as short ones have by the time the caller is authenticated. */
function readBuffered(request: IncomingMessage, maximum: number): Uint8Array {
  if (request.readableLength > maximum) throw new ChatError('payload_too_large')
  return (request.read() as Buffer | null) ?? new Uint8Array()
}

async function readWeb(stream: ReadableStream<Uint8Array>, maximum: number): Promise<Uint8Array> {
  if (stream.locked) throw new ChatError('malformed_json', { message: BODY_IS_GONE })
  const { bytes, isWhole } = await readAtMost(stream, maximum)
  if (!isWhole) throw new ChatError('payload_too_large')
  return bytes
}
