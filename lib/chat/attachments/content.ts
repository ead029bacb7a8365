import { ChatError } from '../../core/errors.ts'
import type { FileStore } from '../../files/file-store.ts'
import { contentDisposition } from '../../files/names.ts'
import { parseRange, type Range } from '../../files/ranges.ts'
import { isInlineType } from '../../files/sniff.ts'
import { keyOfPart } from './rules.ts'
import { PART_BYTES } from './schema.ts'

/** Bytes that can be read, and what they are served as. */
export interface Readable {
  name: string
  type: string
  size: number
  blob_id: string
  /** Names the bytes, in the `ETag`. */
  digest: string
  /** In milliseconds since 1970. */
  modified: number
}

/** The headers of a request, by their names. */
export interface RequestHeaders {
  get(name: string): string | null
}

/** What a request asks of a file. */
export interface Wanted {
  inline: boolean
  /** Whether pages of other origins may have it: with a link. */
  is_shared: boolean
  headers: RequestHeaders
}

/** The bytes of a file, or of a part of it. */
export interface FileAnswer {
  /** 200; 206 for a part; 304 if the caller has it. */
  status: 200 | 206 | 304
  /** The headers of a response, which replace the common ones of these names; names in lower case. */
  headers: Readonly<Record<string, string>>
  /** The number of bytes that follow. */
  length: number
  /** The bytes in pieces of at most 4 MiB, read as they are needed. */
  bytes: AsyncIterable<Uint8Array>
}

/**
 * Answers a request for a file (RFC 9110, sections 13 and 14). The first piece is read before the answer: a file whose bytes
 * are missing is a failure, not half an answer.
 *
 * @throws ChatError `range_not_satisfiable`; `not_found` if the bytes are missing; `unavailable`
 */
export async function answerWith(files: FileStore, file: Readable, wanted: Wanted): Promise<FileAnswer> {
  const headers = headersOf(file, wanted)
  const etag = headers.etag!
  if (namesIt(wanted.headers.get('if-none-match'), etag)) return { status: 304, headers, length: 0, bytes: none() }
  const range = rangeOf(file, etag, wanted.headers)
  if (range === 'unsatisfiable') throw new ChatError('range_not_satisfiable', { content_range: `bytes */${file.size}` })
  const { start, end } = range === 'whole' ? { start: 0, end: file.size } : range
  const pieces = piecesOf(files, file.blob_id, { start, end })
  const first = await pieces.next()
  if (first.done) throw new ChatError('not_found')
  if (range !== 'whole') headers['content-range'] = `bytes ${start}-${end - 1}/${file.size}`
  return { status: range === 'whole' ? 200 : 206, headers, length: end - start, bytes: resume(first.value, pieces) }
}

function headersOf({ name, type, digest, modified }: Readable, { inline, is_shared }: Wanted): Record<string, string> {
  return {
    'content-type': type,
    'content-disposition': contentDisposition(inline && isInlineType(type) ? 'inline' : 'attachment', name),
    // Whatever is in the file, no script of it runs: not in a page of its own either.
    'content-security-policy': "default-src 'none'; sandbox",
    'cross-origin-resource-policy': is_shared ? 'cross-origin' : 'same-origin',
    'cache-control': 'private, no-cache',
    etag: `"${digest}"`,
    'accept-ranges': 'bytes',
    'last-modified': new Date(modified).toUTCString(),
  }
}

/** Whether `If-None-Match` has the tag, or `*`; weak tags are compared, too. */
function namesIt(header: string | null, etag: string): boolean {
  return (header ?? '').split(',').some((each) => each.trim() === '*' || each.trim().replace(/^W\//, '') === etag)
}

/** A part is returned only of the bytes that the caller has the rest of. */
function rangeOf({ size }: Readable, etag: string, headers: RequestHeaders): Range | 'whole' | 'unsatisfiable' {
  const condition = headers.get('if-range')
  return condition !== null && condition !== etag ? 'whole' : parseRange(headers.get('range') ?? undefined, size)
}

/**
 * The bytes of a range in pieces, one after the other: while one is being sent, the next one is being read.
 *
 * @throws ChatError `not_found` for a part that is missing, or too short; `unavailable`
 */
export async function* piecesOf(files: FileStore, blobId: string, { start, end }: Range): AsyncGenerator<Uint8Array> {
  // The borders of parts are among those of pieces.
  const borderAfter = (at: number) => Math.min(end, at - (at % files.piece_bytes) + files.piece_bytes)
  const read = (at: number) => {
    const index = Math.floor(at / PART_BYTES)
    const before = index * PART_BYTES
    const piece = readPart(files, keyOfPart(blobId, index + 1), { start: at - before, end: borderAfter(at) - before })
    // A failure is noticed when it is the turn of the piece.
    piece.catch(() => {})
    return piece
  }
  let next = read(start)
  for (let at = start; at < end; at = borderAfter(at)) {
    const bytes = await next
    if (borderAfter(at) < end) next = read(borderAfter(at))
    yield bytes
  }
}

/** A piece of a part. @throws ChatError `not_found` also for a part that is shorter */
async function readPart(files: FileStore, key: string, range: Range): Promise<Uint8Array> {
  const bytes = await files.get(key, range)
  if (bytes?.length !== range.end - range.start) throw new ChatError('not_found')
  return bytes
}

async function* resume(first: Uint8Array, rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first
  yield* rest
}

async function* none(): AsyncGenerator<Uint8Array> {}
