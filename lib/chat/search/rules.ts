import type { Steps } from '../../core/scheduling/steps.ts'
import { ANALYSIS } from '../../core/words.ts'
import { indexWords, MAX_IN_ORDER } from './rules-indexed.ts'

/** Words of what a message belongs to: the end of an id is enough, as each hit is checked. */
export const scopeWord = {
  conversation: (id: string) => `#c${id.slice(-8)}`,
  author: (id: string) => `#u${id.slice(-8)}`,
  thread: (id: string) => `#t${id.slice(-8)}`,
  file: '#hf',
  link: '#hl',
  mention: '#hm',
  /** A text of which not all words are in their order in the index. */
  long: '#l',
} as const

/**
 * PostgreSQL has no order in an index of words: a word of its own for this many neighbours lets it read the newest
 * first.
 */
export const BLOCK = 16_384

export const blockOf = (doc: number) => Math.floor(doc / BLOCK)
export const blockWord = (block: number) => `#b${block}`

/**
 * The index of SQLite is in partitions: a table of FTS5's for each range of this many numbers of messages. One
 * statement looks at one of them, and one of them is rewritten when words are to leave the file: the cost of both
 * has a bound, however many messages there are.
 */
export const PARTITION = 2 ** 20

export const partitionOf = (doc: number) => Math.floor(doc / PARTITION)

/** What a message has as its row: the newest has the lowest, since FTS5 goes faster from low to high. */
export const toRowId = (partition: number, doc: number) => (partition + 1) * PARTITION - doc
export const toDoc = (partition: number, row: number) => (partition + 1) * PARTITION - row

/** A message in the index, and its words in their order; without any it is taken out. */
export interface Entry {
  doc: number
  words: readonly string[]
}

/**
 * The arrangement of the index of SQLite. It changes with the tables, or what their rows are: then the index is
 * rebuilt.
 */
const ARRANGEMENT = 1

/** What the index of a database is of: an analysis of texts, and on SQLite an arrangement of tables. */
export function indexVersion(dialect: 'sqlite' | 'postgresql'): string {
  return dialect === 'sqlite' ? `${ANALYSIS}.${ARRANGEMENT}` : String(ANALYSIS)
}

/** What the index has of a message. */
interface Text {
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
}

const LINK = /https?:\/\/\S/i

/** How much of a text is searched for a link at a time, and the shortest link. */
const LINK_UNITS = 65_536
const MIN_LINK_LENGTH = 'https://x'.length

/** Whether a message of any length has a link. */
export function* hasLink({ content, prompt }: Pick<Text, 'content' | 'prompt'>): Steps<boolean> {
  for (const text of [content, prompt ?? ''])
    for (let from = 0; from < text.length; from += LINK_UNITS) {
      if (LINK.test(text.slice(from, from + LINK_UNITS + MIN_LINK_LENGTH))) return true
      yield
    }
  return false
}

/** The names of the files of a message, from its list of them. */
export function fileNames(list: string | null | undefined): string[] {
  return list ? (JSON.parse(list) as { name: string }[]).map(({ name }) => name) : []
}

/** The words by which the index finds a message: those of its texts in their order, and what it belongs to. */
export function* entryWords(message: Text): Steps<string[]> {
  const { conversation_id, root_id, posted_by, title, content, prompt, attachment_list } = message
  const words = [scopeWord.conversation(conversation_id), scopeWord.thread(root_id)]
  if (posted_by) words.push(scopeWord.author(posted_by))
  if (attachment_list !== null) words.push(scopeWord.file)
  if (yield* hasLink(message)) words.push(scopeWord.link)
  if (message.has_mention === 1) words.push(scopeWord.mention)
  // The title and the names of files apart from the text, of which only the first words count.
  const text = prompt === null ? content : `${content}\n${prompt}`
  for (const each of [text, ...(title ? [title] : []), ...fileNames(attachment_list)]) {
    const { inOrder, others } = yield* indexWords(each)
    if (inOrder.length === MAX_IN_ORDER) words.push(scopeWord.long)
    words.push(...inOrder, ...others)
  }
  return words
}

/** The events after which a message has another text, author or place in the index. */
const CHANGING = new Set([
  'message.new',
  'message.edited',
  'message.deleted',
  'message.restored',
  'message.done',
  'thread.updated',
])

/** The messages that these events change. */
export function changedBy(events: readonly { type: string; message_id?: string | undefined }[]): string[] {
  return events.flatMap(({ type, message_id }) => (message_id !== undefined && CHANGING.has(type) ? [message_id] : []))
}

/** The number of a word in the index of PostgreSQL. Two words may have the same one: texts are compared anyway. */
export function toWordNumber(word: string): number {
  let hash = 0x811c9dc5
  for (let n = 0; n < word.length; n++) hash = Math.imul(hash ^ word.charCodeAt(n), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return (hash ^ (hash >>> 13)) | 0
}
