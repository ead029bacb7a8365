import { ChatError } from '../../core/errors.ts'
import type { FileStore } from '../../files/file-store.ts'
import { contentDisposition } from '../../files/names.ts'
import { parseRange, type Range } from '../../files/ranges.ts'
import { isInlineType } from '../../files/sniff.ts'
import type { PieceMemory } from './piece-memory.ts'
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
  /** The bytes in pieces of at most 64 KiB, read as they are needed. */
  bytes: AsyncIterable<Uint8Array>
  /** Aborted when the reader is too slow while others wait: it gets no further bytes. */
  signal?: AbortSignal
}

/** A place that files are read from, and the memory that their pieces take. */
export interface Source {
  files: FileStore
  memory: PieceMemory
}

/**
 * Answers a request for a file (RFC 9110, sections 13 and 14). Nothing is read before the reader asks for the first
 * piece.
 *
 * @throws ChatError `range_not_satisfiable`
 */
export function answerWith(source: Source, file: Readable, request: Wanted): FileAnswer {
  const headers = headersOf(file, request)
  const etag = headers.etag!
  if (namesIt(request.headers.get('if-none-match'), etag)) return { status: 304, headers, length: 0, bytes: none() }
  const range = rangeOf(file, etag, request.headers)
  if (range === 'unsatisfiable') throw new ChatError('range_not_satisfiable', { content_range: `bytes */${file.size}` })
  const { start, end } = range === 'whole' ? { start: 0, end: file.size } : range
  if (range !== 'whole') headers['content-range'] = `bytes ${start}-${end - 1}/${file.size}`
  const bytes = piecesOf(source, file.blob_id, { start, end })
  return { status: range === 'whole' ? 200 : 206, headers, length: end - start, bytes }
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
  return (header ?? '').split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)
}

/** A part is returned only of the bytes that the caller has the rest of. */
function rangeOf({ size }: Readable, etag: string, headers: RequestHeaders): Range | 'whole' | 'unsatisfiable' {
  const condition = headers.get('if-range')
  return condition !== null && condition !== etag ? 'whole' : parseRange(headers.get('range') ?? undefined, size)
}

/** The place after `at` where pieces of this size, a power of two, meet, or the end. The borders of parts are among them. */
const borderAfter = (at: number, size: number, end: number) => Math.min(end, at - (at % size) + size)

/**
 * The bytes of a range in pieces, one after the other: while one is being sent, the next one is being read.
 *
 * @throws ChatError `not_found` for a part that is missing, or too short; `unavailable`
 */
export async function* piecesOf(
  { files, memory }: Source,
  blobId: string,
  { start, end }: Range,
): AsyncGenerator<Uint8Array> {
  let held = 0
  const hold = (bytes: number) => {
    held += bytes
    memory.add(bytes)
  }
  const begin = (at: number) => {
    const to = borderAfter(at, memory.pieceBytes(files.piece_bytes), end)
    hold(to - at)
    const piece = readPiece(files, blobId, { start: at, end: to })
    // A failure is noticed when it is the turn of the piece.
    piece.catch(() => {})
    return { piece, to, length: to - at }
  }
  let next = start < end ? begin(start) : undefined
  try {
    while (next) {
      const { piece, to, length } = next
      const bytes = await piece
      next = to < end ? begin(to) : undefined
      yield bytes
      hold(-length)
    }
  } finally {
    hold(-held)
  }
}

/** A piece of one part. @throws ChatError `not_found` also for a part that is shorter */
async function readPiece(files: FileStore, blobId: string, { start, end }: Range): Promise<Uint8Array> {
  const index = Math.floor(start / PART_BYTES)
  const before = index * PART_BYTES
  const bytes = await files.get(keyOfPart(blobId, index + 1), { start: start - before, end: end - before })
  if (bytes?.length !== end - start) throw new ChatError('not_found')
  return bytes
}

async function* none(): AsyncGenerator<Uint8Array> {}
