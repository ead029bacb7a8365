import { appendFile, mkdir, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Context } from '../../context.ts'
import { toInstant } from '../../core/time.ts'
import { type ExportedLists, writePage } from './page.ts'
import {
  findOwnPhoto,
  listEarlierTexts,
  listOwnFiles,
  listOwnMessages,
  listOwnRows,
  type OwnFile,
  type OwnMessage,
} from './store.ts'
import { AUDIT_ROWS, OWN_ROWS } from './tables.ts'

/** What an export has written so far. */
export interface UserExport {
  messages: number
  files: number
  /** Files whose bytes are not in the storage. */
  missing: number
}

/** Options of {@link exportUser}. */
export interface UserExportOptions {
  onProgress?: (done: UserExport, looked_at: number) => void
  signal?: AbortSignal
}

/** Only the user who runs it may read the files. */
const FOLDER = { recursive: true, mode: 0o700 } as const
const FILE = { mode: 0o600 } as const

/**
 * Writes all that a user has written, and what is stored about the user, into an empty folder: as JSON, and as a page. Of
 * others it has names and times of what was answered or quoted, and no text. Of deleted messages it has nothing.
 *
 * What it reads is in memory a page at a time. If it fails, it leaves the folder empty.
 *
 * @throws Error when the folder has files
 */
export async function exportUser(
  ctx: Context,
  userId: string,
  folder: string,
  { onProgress = () => {}, signal }: UserExportOptions = {},
): Promise<UserExport> {
  await mkdir(folder, FOLDER)
  if ((await readdir(folder)).length > 0) throw new Error(`${folder} is not empty: name a new folder`)
  const done: UserExport = { messages: 0, files: 0, missing: 0 }
  let looked_at = 0
  const step = () => {
    signal?.throwIfAborted()
    onProgress(done, looked_at)
  }
  try {
    const lists = await writeRows(ctx, userId, { folder, step })
    const conversations = await writeMessages(ctx, userId, {
      folder,
      step(messages, all) {
        done.messages += messages
        looked_at += all
        step()
      },
    })
    await writePhoto(ctx, userId, { folder, done })
    await writeFiles(ctx, userId, { folder, done, step })
    await writePage(folder, {
      lists: [...lists, 'files'],
      conversations: [...conversations.values()],
    } satisfies ExportedLists)
    return done
  } catch (error) {
    for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true })
    throw error
  }
}

/** The small tables, a file each. @returns their names */
async function writeRows(
  { db }: Context,
  userId: string,
  { folder, step }: { folder: string; step: () => void },
): Promise<string[]> {
  for (const [name, rows] of Object.entries(OWN_ROWS)) {
    const list = createList(join(folder, `${name}.json`))
    for await (const page of listOwnRows(db, rows, userId)) {
      await list.add(page.map(readable))
      step()
    }
    await list.end()
  }
  const audit = createList(join(folder, 'audit.json'))
  for (const { relation, ...rows } of AUDIT_ROWS)
    for await (const page of listOwnRows(db, rows, userId)) {
      await audit.add(page.map((row) => ({ ...readable(row), relation })))
      step()
    }
  await audit.end()
  return [...Object.keys(OWN_ROWS), 'audit']
}

/** A file for each conversation. @returns their paths in the folder, by id */
async function writeMessages(
  { db }: Context,
  userId: string,
  { folder, step }: { folder: string; step: (messages: number, all: number) => void },
): Promise<Map<string, string>> {
  await mkdir(join(folder, 'conversations'), FOLDER)
  const paths = new Map<string, string>()
  const pages = listOwnMessages(db, userId, (all) => step(0, all))
  for await (const page of pages) {
    const ids = page.map(({ id }) => id)
    const earlier = groupBy(await listEarlierTexts(db, ids), ({ message_id }) => message_id)
    for (const [id, messages] of groupBy(page, ({ conversation_id }) => conversation_id)) {
      const path = paths.get(id) ?? `conversations/${paths.size + 1}-${id}.json`
      const list = createList(join(folder, path), paths.has(id))
      paths.set(id, path)
      await list.add(messages.map((message) => toMessage(message, earlier.get(message.id) ?? [])))
    }
    step(page.length, 0)
  }
  for (const path of paths.values()) await createList(join(folder, path), true).end()
  return paths
}

/** The ends of names of files, by what their bytes are: a name that a user chose opens no program. */
const ENDINGS: Record<string, string> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/avif': 'avif',
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'video/ogg': 'ogv',
  'audio/mpeg': 'mp3',
  'audio/mp4': 'm4a',
  'audio/ogg': 'oga',
  'audio/wav': 'wav',
  'audio/flac': 'flac',
  'application/pdf': 'pdf',
}

/** The photo that the user has set, if any. */
async function writePhoto(
  ctx: Context,
  userId: string,
  { folder, done }: { folder: string; done: UserExport },
): Promise<void> {
  const photo = await findOwnPhoto(ctx.db, userId)
  if (!photo) return
  const path = join(folder, `photo.${ENDINGS[photo.sniffed ?? ''] ?? 'bin'}`)
  if (!(await copyBytes(ctx, photo, path))) done.missing++
}

/** The bytes of the files, a part in memory at a time. */
async function writeFiles(
  ctx: Context,
  userId: string,
  { folder, done, step }: { folder: string; done: UserExport; step: () => void },
): Promise<void> {
  await mkdir(join(folder, 'files'), FOLDER)
  const list = createList(join(folder, 'files.json'))
  for await (const page of listOwnFiles(ctx.db, userId))
    for (const file of page) {
      const path = `files/${done.files + done.missing + 1}-${file.id}.${ENDINGS[file.sniffed ?? ''] ?? 'bin'}`
      const isWhole = await copyBytes(ctx, file, join(folder, path))
      if (isWhole) done.files++
      else done.missing++
      const { id, conversation_id, message_id, name, sniffed, size, created_at } = file
      const of = { id, conversation_id, message_id, name, type: sniffed, size, created_at: toInstant(created_at) }
      await list.add([{ ...of, ...(isWhole ? { file: path } : { missing: true }) }])
      step()
    }
  await list.end()
}

/** @returns false if the storage lacks bytes; then nothing is left */
async function copyBytes(
  ctx: Context,
  { blob_id, parts }: Pick<OwnFile, 'blob_id' | 'parts'>,
  path: string,
): Promise<boolean> {
  if (blob_id === null || parts === null) return false
  const files = await ctx.files.open()
  const target = await open(path, 'wx', FILE.mode)
  let isWhole = true
  try {
    for (let n = 1; n <= Number(parts) && isWhole; n++) {
      const bytes = await files.get(`${blob_id}/${n}`)
      if (bytes) await target.write(bytes)
      else isWhole = false
    }
  } finally {
    await target.close()
  }
  if (!isWhole) await rm(path)
  return isWhole
}

function toMessage(message: OwnMessage, earlier: { replaced_at: number; content: string }[]) {
  const { id, root_id, title, content, metadata, created_at, edited_at } = message
  const { answered_at, answered_role, answered_username, quoted_at, quoted_role, quoted_username } = message
  return {
    id,
    root_id,
    created_at: toInstant(created_at),
    ...(edited_at !== null && { edited_at: toInstant(edited_at) }),
    ...(title && { title }),
    content,
    ...(message.generated && { generated: true }),
    ...(metadata !== null && { metadata: JSON.parse(metadata) }),
    ...(earlier.length > 0 && {
      earlier: earlier.map(({ replaced_at, content }) => ({ content, replaced_at: toInstant(replaced_at) })),
    }),
    ...(answered_at !== null && { answers: toOther(answered_role, answered_username, answered_at) }),
    ...(quoted_at !== null && { quotes: toOther(quoted_role, quoted_username, quoted_at) }),
  }
}

/** A message of another user: its author and its time. */
function toOther(role: string | null, username: string | null, at: number) {
  return { author: role === 'assistant' ? 'assistant' : username, created_at: toInstant(at) }
}

/** A row with its instants as RFC 3339, and without what is not set. */
function readable(row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) => {
      if (value === null) return []
      return [[name, /^at$|_at$|_until$/.test(name) ? toInstant(Number(value)) : value]]
    }),
  )
}

/** A JSON array in a file, to which items are added: an item is a line. @param hasItems whether it has some already */
function createList(path: string, hasItems = false) {
  let isEmpty = !hasItems
  return {
    async add(items: readonly object[]): Promise<void> {
      const text = items.map((item) => JSON.stringify(item)).join(',\n')
      await appendFile(path, `${isEmpty ? '[' : ','}\n${text}`, FILE)
      isEmpty = false
    },
    end: () => appendFile(path, isEmpty ? '[]\n' : '\n]\n', FILE),
  }
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item])
  return groups
}
