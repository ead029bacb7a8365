import type { Queries } from '../../storage/database.ts'
import { amongNumbers, isErasedAuthor, rootTitle, sql } from '../../storage/sql.ts'

/** What the index has of a message. */
export interface IndexedText {
  doc: number
  conversation_id: string
  root_id: string
  posted_by: string | null
  content: string
  prompt: string | null
  /** The title of the thread that it begins. */
  title: string | null
  /** The list of its files, as JSON. */
  attachment_list: string | null
  has_mention: number
  is_live: number
}

/** The bytes of what is indexed of a message. */
const SIZE = sql`octet_length(content) + coalesce(octet_length(prompt), 0) + coalesce(octet_length(attachment_list), 0)`

/** The texts of messages, up to `bytes` together, and at least one. In the order of `doc`. */
export async function listTexts(db: Queries, docs: readonly number[], bytes: number): Promise<IndexedText[]> {
  // Texts no longer than their equal share of the bytes are read at once.
  const found = await readTexts(db, docs, Math.min(MAX_TEXT_LENGTH, Math.floor(bytes / docs.length)))
  let room = bytes
  const fitting = found.filter(({ size }, n) => {
    room -= size
    return room >= 0 || n === 0
  })
  const long = fitting.filter(({ content }) => content === null).map(({ doc }) => doc)
  if (long.length === 0) return fitting as IndexedText[]
  const texts = new Map((await readTexts(db, long, MAX_TEXT_LENGTH)).map((text) => [text.doc, text]))
  return fitting.map((text) => texts.get(text.doc) ?? text) as IndexedText[]
}

/** More than any text has; PostgreSQL compares it as an integer of 32 bits. */
const MAX_TEXT_LENGTH = 2 ** 31 - 1

/** A text as it is read for the index: without `content` if it is longer than requested. */
type ReadText = Omit<IndexedText, 'content'> & { content: string | null; size: number }

function readTexts(db: Queries, docs: readonly number[], longest: number): Promise<ReadText[]> {
  const ifShort = sql`CASE WHEN ${SIZE} <= ${longest} THEN`
  return db.all<ReadText>(
    sql`SELECT doc, ${SIZE} AS size, conversation_id, root_id, posted_by, ${ifShort} content END AS content,
            ${ifShort} prompt END AS prompt, ${ifShort} attachment_list END AS attachment_list,
            ${rootTitle(sql`messages`)} AS title,
            CASE WHEN mention_all IS NULL THEN 0 ELSE 1 END AS has_mention,
            CASE WHEN deleted_at IS NULL AND NOT ${isErasedAuthor(sql`posted_by`)} THEN 1 ELSE 0 END AS is_live
       FROM messages WHERE doc ${amongNumbers(db, docs)} ORDER BY doc`,
  )
}
