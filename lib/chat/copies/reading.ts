import { RULES } from '../../core/characters.ts'
import { type Counts, type Header, type Line, VERSION } from '../../storage/archive/format.ts'
import { NOT_WHOLE, readArchive } from '../../storage/archive/read.ts'
import type { Row } from '../../storage/database.ts'
import { findTooLong } from '../../storage/lengths.ts'
import { MIGRATIONS } from '../../storage/schema/migrations.ts'
import { findForeignValue } from '../../storage/stored-values.ts'

/** A user as an archive of a conversation has it. */
export interface CopiedUser {
  id: string
  username: string
  display_name: string | null
  kind: 'person' | 'system'
  /** The host's own id, or the name of a system actor. */
  subject: string | null
  /** Only a verified one. */
  email: string | null
}

/** The bytes of a file, as an archive names them. */
export interface CopiedBlob {
  id: string
  /** `null` for a thumbnail. */
  digest: string | null
  size: number
  parts: number
}

/** What is known of an archive of a conversation once it was read to its end. */
export interface Copy {
  id: string
  conversation: Row
  /** The roles of its participants, by user id. */
  roles: Map<string, string>
  users: CopiedUser[]
  blobs: Map<string, CopiedBlob>
  counts: Counts
}

/** The columns whose texts are ids. */
const IDS = [
  'id',
  'conversation_id',
  'root_id',
  'message_id',
  'parent_id',
  'quote_id',
  'variant_of',
  'user_id',
  'blob_id',
  'thumbnail_blob_id',
]
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

/** What begins an archive of a conversation: anything else is refused before a row is read. */
function assertHeader(line: Line | undefined): string {
  if (line === undefined) throw new Error(NOT_WHOLE)
  const header = line as Header
  if (header.chat_server_archive !== VERSION) throw new Error('This is not an archive that this program can read')
  if (typeof header.conversation !== 'string' || !UUID.test(header.conversation))
    throw new Error('The archive has a whole database, not one conversation: "chat-server import" fills an empty one')
  const unknown = header.migrations.find((name) => !MIGRATIONS.some((migration) => migration.name === name))
  if (unknown) throw new Error(`The archive (${unknown}) is newer than this program: install the newer version`)
  return header.conversation
}

/**
 * The rows of an archive of a conversation, each checked: it has no text that is too long and no value that the service
 * never writes, and belongs to the conversation and to the thread before it.
 *
 * @throws Error with the number of the line
 */
export async function* rowsOf(lines: AsyncIterable<string>): AsyncGenerator<{ table: string; row: Row }, Counts> {
  const archive = readArchive(lines)
  const { value: first } = await archive.next()
  const belongs = createBelongs(assertHeader(first as Line | undefined))
  const counts: Counts = {}
  let number = 1
  for await (const line of archive) {
    number++
    if ('end' in line) {
      for (const table of new Set([...Object.keys(counts), ...Object.keys(line.counts)]))
        if (counts[table] !== line.counts[table])
          throw new Error(`The archive has ${counts[table] ?? 0} ${table}, and should have ${line.counts[table] ?? 0}`)
      return counts
    }
    if (!('table' in line)) throw new Error(NOT_WHOLE)
    const { table, row } = line
    const wrong =
      findTooLong(table, row) ??
      findForeignValue(table, row) ??
      IDS.filter((column) => typeof row[column] === 'string' && !UUID.test(row[column])).map(
        (column) => `${table}.${column} is no id`,
      )[0] ??
      belongs(table, row)
    if (wrong) throw new Error(`Nothing was imported: in line ${number} of the archive, ${wrong}`)
    counts[table] = (counts[table] ?? 0) + 1
    yield { table, row }
  }
  throw new Error(NOT_WHOLE)
}

/** @returns what is wrong about the place of a row, if anything */
function createBelongs(id: string): (table: string, row: Row) => string | undefined {
  let root: unknown
  /** The messages of the thread. */
  let messages = new Set<unknown>()
  const inThread: Record<string, (row: Row) => boolean> = {
    messages: (row) => {
      const isPlaced = row.parent_id === null ? row.id === root : messages.has(row.parent_id)
      messages.add(row.id)
      return row.conversation_id === id && row.root_id === root && isPlaced
    },
    thread_members: (row) => row.root_id === root && [null, id].includes(row.marked_in as string | null),
    attachments: (row) => row.conversation_id === id && messages.has(row.message_id),
    message_revisions: (row) => messages.has(row.message_id),
    message_chunks: (row) => messages.has(row.message_id),
    reactions: (row) => messages.has(row.message_id),
  }
  const others: Record<string, (row: Row) => boolean> = {
    conversations: (row) => row.id === id && (row.deleted_at ?? null) === null,
    participants: (row) => row.conversation_id === id,
    threads: (row) => {
      root = row.root_id
      messages = new Set()
      return row.conversation_id === id
    },
    blobs: () => true,
    users: isUser,
  }
  return (table, row) => {
    const isRight = inThread[table] ?? others[table]
    if (!isRight) return `there is an unknown ${String(table).slice(0, 60)}`
    return isRight(row) ? undefined : `a row of ${table} is no part of the conversation, or is not as it is written`
  }
}

const USERNAME = new RegExp(RULES.username, 'u')

function isUser({ id, username, display_name, kind, subject, email }: Row): boolean {
  return (
    typeof id === 'string' &&
    typeof username === 'string' &&
    USERNAME.test(username) &&
    ['person', 'system'].includes(String(kind)) &&
    [display_name, subject, email].every((value) => value === null || typeof value === 'string')
  )
}

/** Reads an archive of a conversation to its end. @throws Error for another file, and a wrong or missing row */
export async function readCopy(lines: AsyncIterable<string>): Promise<Copy> {
  const copy: Omit<Copy, 'id' | 'conversation' | 'counts'> = { roles: new Map(), users: [], blobs: new Map() }
  let conversation: Row | undefined
  const rows = rowsOf(lines)
  for (;;) {
    const { value, done } = await rows.next()
    if (done) {
      if (!conversation) throw new Error(NOT_WHOLE)
      return { id: String(conversation.id), conversation, counts: value, ...copy }
    }
    const { table, row } = value
    if (table === 'conversations') conversation = row
    else if (conversation === undefined) throw new Error('The archive does not begin with its conversation')
    if (table === 'participants') copy.roles.set(String(row.user_id), String(row.role))
    if (table === 'users') copy.users.push(row as unknown as CopiedUser)
    if (table === 'blobs') copy.blobs.set(String(row.id), row as unknown as CopiedBlob)
  }
}
