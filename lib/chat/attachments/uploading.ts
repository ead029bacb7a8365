import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { invalid } from '../../core/errors.ts'
import type { NamesOf } from '../../core/known-names.ts'
import { assertKnown, bind } from '../../core/use-case.ts'
import { putPart, type ReadPart } from './parts.ts'
import type { Attachment } from './schema.ts'
import * as service from './service.ts'

/** A file of the host. */
export interface FileInput {
  name: string
  /** Media type; the file is served as what its bytes are. */
  type?: string
  /** All of its bytes: or a `stream`. */
  bytes?: Uint8Array
  /** The bytes in pieces, read as they are stored: with `size`, as an upload begins with the number of its bytes. */
  stream?: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>
  /** The number of bytes of `stream`. */
  size?: number
  /** Ends the upload. */
  signal?: AbortSignal
}

const NAMES: NamesOf<FileInput> = { name: 0, type: 0, bytes: 0, stream: 0, size: 0, signal: 0 }

/**
 * Uploads a file into a conversation, part by part, of which one is in memory. What it began is removed when it fails, or
 * `signal` is aborted. A message gets the file with `attachment_ids`.
 *
 * @throws ChatError `validation_failed` for a file without bytes, a stream without `size`, and one of another size; the
 *   codes of `attachments.create` and `attachments.putPart`; the reason of `signal`
 */
export async function upload(
  ctx: Context,
  actor: Actor,
  conversationId: string,
  file: FileInput,
): Promise<{ attachment: Attachment }> {
  if (typeof file !== 'object' || file === null)
    throw invalid('file', 'must be { name, bytes } or { name, stream, size }')
  assertKnown(file, NAMES)
  const { name, type, signal } = file
  const { size, pieces } = bytesOf(file)
  const iterator = pieces[Symbol.asyncIterator]()
  let id: string | undefined
  try {
    signal?.throwIfAborted()
    const input = { name, size, ...(type !== undefined && { type }) }
    const { attachment, parts } = await bind(ctx, service.create)(actor, conversationId, input)
    id = attachment.id
    const bytes = partReader(iterator, size, signal)
    for (let n = 1; n < parts; n++) await putPart(ctx, actor, id, n, { bytes })
    return (await putPart(ctx, actor, id, parts, { bytes }))!
  } catch (error) {
    if (id !== undefined) await bind(ctx, service.remove)(actor, id).catch(() => {})
    throw error
  } finally {
    // Not waited for: a stream that gives nothing may not end either.
    void Promise.resolve(iterator.return?.()).catch(() => {})
  }
}

/** @throws ChatError `validation_failed` */
function bytesOf({ bytes, stream, size }: FileInput): { size: number; pieces: AsyncIterable<Uint8Array> } {
  if ((bytes === undefined) === (stream === undefined))
    throw invalid('bytes', 'must be there, or a stream, and not both')
  if (bytes !== undefined) {
    if (!(bytes instanceof Uint8Array)) throw invalid('bytes', 'must be a Uint8Array')
    return { size: bytes.length, pieces: one(bytes) }
  }
  if (typeof (stream as Partial<AsyncIterable<Uint8Array>>)[Symbol.asyncIterator] !== 'function')
    throw invalid('stream', 'must be a stream of bytes, such as that of fs.createReadStream')
  if (size === undefined) throw invalid('size', 'must be the number of bytes of the stream')
  return { size, pieces: stream as AsyncIterable<Uint8Array> }
}

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

/** Reads part after part of a file from its pieces, and at the end that nothing follows. */
function partReader(iterator: AsyncIterator<Uint8Array>, size: number, stop: AbortSignal | undefined): ReadPart {
  let rest: Uint8Array = new Uint8Array()
  let left = size

  /** The next piece with bytes; `undefined` at the end. */
  async function next(signal: AbortSignal): Promise<Uint8Array | undefined> {
    for (;;) {
      const { value, done } = await untilAborted(iterator.next(), signal)
      if (done) return undefined
      if (!((value as unknown) instanceof Uint8Array)) throw invalid('stream', 'must give bytes')
      if (value.length > 0) return value
    }
  }

  return async (length, buffer, slotSignal, onBytes) => {
    const signal = stop ? AbortSignal.any([stop, slotSignal]) : slotSignal
    for (let at = 0; at < length; ) {
      if (rest.length === 0) rest = (await next(signal)) ?? shorter(size - left)
      const piece = rest.subarray(0, length - at)
      buffer.set(piece, at)
      rest = rest.subarray(piece.length)
      at += piece.length
      left -= piece.length
      onBytes(piece.length)
    }
    const hasMore = left === 0 && (rest.length > 0 || (await next(signal)) !== undefined)
    if (hasMore) throw invalid('size', 'is less than the stream has')
    return buffer
  }
}

function shorter(bytes: number): never {
  throw invalid('size', `is more than the ${bytes} bytes of the stream`)
}

async function untilAborted<T>(step: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  let stop = () => {}
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop)
  })
  try {
    return await Promise.race([step, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
