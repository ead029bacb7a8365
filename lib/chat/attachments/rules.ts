import { ChatError } from '../../core/errors.ts'
import { FILE_TYPES, type FileType } from '../../core/file-types.ts'
import type { Attachment } from './schema.ts'
import { PART_BYTES } from './schema.ts'

/** The number of parts of a file. */
export function countParts(size: number): number {
  return Math.ceil(size / PART_BYTES)
}

/** The size of a part, from 1; 0 if there is no such part. */
export function lengthOfPart(size: number, n: number): number {
  if (!Number.isInteger(n) || n < 1 || n > countParts(size)) return 0
  return Math.min(PART_BYTES, size - (n - 1) * PART_BYTES)
}

/** The name of a file in a message about it, so long that one recognises it. */
export function quoted(name: string): string {
  const characters = [...name]
  const shown = characters.length > 60 ? [...characters.slice(0, 40), '…', ...characters.slice(-19)] : characters
  return `"${shown.join('')}"`
}

/** Under which key the bytes of a part are stored. */
export function keyOfPart(blobId: string, n: number): string {
  return `${blobId}/${n}`
}

/** The type of a header: one of a list, whatever a row has. */
export function servedAs(type: string | null, types: readonly FileType[] = FILE_TYPES): FileType {
  return types.find((inlineType) => inlineType === type) ?? 'application/octet-stream'
}

/** The media type that readers get: what the bytes are, or else what the sender calls them. */
export function shownType({ type, sniffed }: { type: string | null; sniffed: string | null }): string {
  const isKnown = sniffed !== null && sniffed !== 'application/octet-stream'
  return isKnown ? sniffed : (type ?? 'application/octet-stream')
}

/** The SHA-256 that a `Content-Digest` header has, as it is written there; `undefined` without one (RFC 9530). */
export function digestIn(header: string | null | undefined): string | undefined {
  return /(?:^|[,\s])sha-256=:([^:]*):/.exec(header ?? '')?.[1]
}

/**
 * The list of files of a message, as all its readers get it; without the uploader: that is its author, who may be
 * erased.
 */
export function toList(files: readonly Attachment[]): string | null {
  if (files.length === 0) return null
  return toAscii(JSON.stringify(files.map(({ uploaded_by: _, reason: __, ...file }) => file)))
}

/** The list of the files that an answer has of its question; `null` without any. */
export const filesOfQuestion = (list: string | null | undefined) => filtered(list, ({ generated }) => !generated)

/** The list of the files that an assistant has made; `null` without any. */
export const filesMade = (list: string | null | undefined) => filtered(list, ({ generated }) => generated === true)

function filtered(list: string | null | undefined, isWanted: (file: Attachment) => boolean): string | null {
  const files = list ? (JSON.parse(list) as Attachment[]).filter(isWanted) : []
  return files.length > 0 ? toAscii(JSON.stringify(files)) : null
}

/** JSON in ASCII: a page of lists is read faster. */
function toAscii(json: string): string {
  return json.replace(/[\u0080-\uFFFF]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** What decides whether a file can become one of a message. */
export interface Candidate {
  id: string
  name: string
  conversation_id: string
  message_id: string | null
  uploaded_by: string | null
  status: Attachment['status']
  expires_at: number | null
}

/** The place of a message that gets files. */
export interface Attaching {
  user_id: string
  conversation_id: string
  /** A message that is edited: its own files stay. */
  message_id?: string
  now: number
  /** `after`: a file can be attached while it is checked. */
  scan: 'before' | 'after'
}

/**
 * The files of a message, in the order of their ids.
 *
 * @throws ChatError `not_found` for a file that is not the user's own, in another conversation, or another message's;
 *   `attachment_not_ready`, `attachment_refused`
 */
export function chooseFiles<Row extends Candidate>(rows: readonly Row[], ids: readonly string[], to: Attaching): Row[] {
  return ids.map((id) => {
    const row = rows.find((file) => file.id === id)
    if (row && row.message_id !== null && row.message_id === to.message_id) return row
    if (!row || !isFree(row, to)) throw new ChatError('not_found')
    if (row.status === 'refused') throw refused(row)
    if (row.status !== 'ready' && !(row.status === 'scanning' && to.scan === 'after')) throw notReady(row)
    return row
  })
}

export const refused = ({ name }: { name: string }) =>
  new ChatError('attachment_refused', { message: `${quoted(name)} was refused by the check of files.` })

export const notReady = ({ name }: { name: string }) =>
  new ChatError('attachment_not_ready', { message: `${quoted(name)} is not ready: it is being uploaded, or checked.` })

function isFree(row: Candidate, { user_id, conversation_id, now }: Attaching): boolean {
  const isOwn = row.uploaded_by === user_id && row.conversation_id === conversation_id
  return isOwn && row.message_id === null && row.status !== 'gone' && (row.expires_at ?? 0) > now
}
