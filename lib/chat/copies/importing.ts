import type { Context } from '../../context.ts'
import { SECOND } from '../../core/units.ts'
import type { FileStore } from '../../files/file-store.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { PAGE, type Progress } from '../../storage/archive/format.ts'
import { knownColumns } from '../../storage/archive/import.ts'
import type { Row } from '../../storage/database.ts'
import { isTaken } from '../../storage/errors.ts'
import { insertParticipant, updateRole } from '../memberships/store.ts'
import { findConversationByRef } from '../memberships/store-conversations.ts'
import { findPair } from '../memberships/store-direct.ts'
import { composeReactionLists } from '../messages/store-reactions.ts'
import { storeFollowed } from '../unread/store-follows.ts'
import { listAnew } from '../unread/store-listing.ts'
import { createFileImport, type ImportedFiles } from './files.ts'
import { createMapper } from './mapping.ts'
import { insertPlaceholder, type Standing } from './people.ts'
import { type Copy, rowsOf } from './reading.ts'
import {
  cancelRemoval,
  findPlace,
  insertHidden,
  insertRow,
  listRoles,
  listThreads,
  postponeRemoval,
  recountConversation,
  recountThreads,
  removeErasedTitles,
  removeForeignQuotes,
  removeForeignVariants,
  show,
} from './store.ts'

/** When what an interrupted import has stored is removed. Each step of an import puts it off. */
const REMOVED_AFTER = 600 * SECOND

/** The size of the texts that one transaction stores: others write in between. */
const BATCH_CHARACTERS = 1024 * 1024

/** The messages whose counts one transaction recomputes, and the threads. */
const RECOUNTED = 2_000

/** The tables of an archive whose rows are stored; users and bytes need more. */
const STORED = [
  'participants',
  'threads',
  'thread_members',
  'messages',
  'message_revisions',
  'message_chunks',
  'reactions',
  'attachments',
]

/** What an import has done. */
export interface ImportedConversation extends ImportedFiles {
  /** The ref that another conversation has by now. */
  ref_taken?: string
}

/** What an import needs besides the archive. */
export interface ImportOptions {
  people: readonly Standing[]
  /** Becomes an owner. */
  owner_id?: string | undefined
  files?: FileStore | undefined
  onProgress?: Progress | undefined
  signal?: AbortSignal | undefined
}

/**
 * Brings a conversation back. Nothing of it is visible before it is complete, and an import that ends before is
 * removed, as a deleted conversation is.
 *
 * @param lines opens the archive, which was read before
 * @throws Error when another conversation has one of its ids, or the pair of its people; when it was begun elsewhere
 */
export async function importConversation(
  ctx: Context,
  copy: Copy,
  lines: () => AsyncIterable<string>,
  options: ImportOptions,
): Promise<ImportedConversation> {
  const mapper = createMapper(options.people)
  const conversation = mapper.map('conversations', copy.conversation)!
  await assertPairFree(ctx, conversation)
  const assertKnown = await knownColumns(ctx.db)
  await begin(ctx, conversation, options.people)
  try {
    const batch = createBatch(ctx, copy.id, options.onProgress)
    const files = createFileImport(ctx, copy.blobs, options.files)
    for await (const { table, row } of rowsOf(lines())) {
      options.signal?.throwIfAborted()
      if (!STORED.includes(table)) continue
      assertKnown(table, row)
      const mapped = mapper.map(table, row)
      if (!mapped) continue
      if (table !== 'attachments') await batch.add(table, mapped)
      else {
        await batch.flush()
        await files.add(mapped)
      }
    }
    await batch.flush()
    await files.end()
    await recount(ctx, copy.id)
    const ref_taken = await finish(ctx, conversation, options)
    return { ...files.done, ...(ref_taken !== undefined && { ref_taken }) }
  } catch (error) {
    await ctx.write((tx) => removeHidden(tx, copy.id)).catch(() => {})
    throw error
  }
}

/** Not one that is shown: of a lost connection it is unknown whether the last transaction was stored. */
async function removeHidden(tx: Tx, id: string): Promise<void> {
  const place = await findPlace(tx, id)
  if (place && place.deleted_at !== null) tx.enqueue({ kind: 'conversation.remove', key: id })
}

/** @throws Error */
async function assertPairFree(ctx: Context, { id, pair_key }: Row): Promise<void> {
  const other = typeof pair_key === 'string' ? await findPair(ctx.db, pair_key) : undefined
  if (other !== undefined && other !== id)
    throw new Error(`Nothing was imported: its two people have another direct conversation by now, ${other}`)
}

/** Takes the id, and makes the accounts that are missing. @throws Error when the id was taken since */
async function begin(ctx: Context, conversation: Row, people: readonly Standing[]): Promise<void> {
  await ctx.write(async (tx) => {
    const id = String(conversation.id)
    if (await findPlace(tx, id)) throw new Error(`Nothing was imported: ${id} is there by now`)
    await insertHidden(tx, conversation, ctx.now())
    tx.enqueue({ kind: 'conversation.remove', key: id, delay_seconds: REMOVED_AFTER / SECOND })
    for (const { by, copied } of people) if (by === 'placeholder') await insertPlaceholder(tx, copied, ctx.now())
  })
}

/** Stores rows, some of them in a transaction each. */
function createBatch(ctx: Context, id: string, onProgress: Progress = () => {}) {
  let rows: [table: string, row: Row][] = []
  let size = 0
  const done = new Map<string, number>()
  return {
    async add(table: string, row: Row): Promise<void> {
      rows.push([table, row])
      size += Object.values(row).reduce<number>((sum, value) => sum + String(value).length, 0)
      if (rows.length >= PAGE || size > BATCH_CHARACTERS) await this.flush()
    },
    async flush(): Promise<void> {
      const these = rows
      rows = []
      size = 0
      if (these.length > 0) await ctx.write((tx) => insert(ctx, tx, id, these), { timeout: false })
      for (const [table] of these) done.set(table, (done.get(table) ?? 0) + 1)
      for (const table of new Set(these.map(([name]) => name))) onProgress(table, done.get(table)!)
    },
  }
}

async function insert(ctx: Context, tx: Tx, id: string, rows: readonly [table: string, row: Row][]): Promise<void> {
  if (!(await postponeRemoval(tx, id, REMOVED_AFTER)))
    throw new Error('The import was taken for an interrupted one, and is being removed')
  for (const [table, row] of rows) {
    await insertRow(tx, table, row).catch((cause) => {
      throw isTaken(cause)
        ? new Error(`Nothing was imported: ${table} ${row.id ?? row.root_id} is part of another conversation`, {
            cause,
          })
        : cause
    })
  }
  const of = (name: string, column: string) =>
    rows.flatMap(([table, row]) => (table === name ? [String(row[column])] : []))
  const reacted = new Set(of('reactions', 'message_id'))
  if (reacted.size > 0) await composeReactionLists(tx, [...reacted])
  ctx.search.noteMessages(tx, of('messages', 'id'))
}

/** Recomputes the counts of all threads, as some messages may have lost their author, and checks their quotes. */
async function recount(ctx: Context, id: string): Promise<void> {
  for (let after = 0; ; ) {
    const threads = await listThreads(ctx.db, id, after, RECOUNTED / 10)
    if (threads.length === 0) return
    for (let at = 0; at < threads.length; ) {
      const begin = at
      for (let sum = 0; at < threads.length && sum < RECOUNTED; at++) sum += Number(threads[at]!.messages)
      const roots = threads.slice(begin, at).map(({ root_id }) => root_id)
      await ctx.write(
        async (tx) => {
          await recountThreads(tx, roots)
          await removeForeignQuotes(tx, roots)
          await removeForeignVariants(tx, roots)
          await removeErasedTitles(tx, roots)
          await listAnew(tx, roots)
        },
        { timeout: false },
      )
    }
    after = threads.at(-1)!.last_activity_at
  }
}

/** Columns that a conversation gets when it is shown: all but those that it began with. */
const BEGAN_WITH = [
  'id',
  'is_group',
  'created_at',
  'clock',
  'last_seq',
  'deleted_at',
  'message_count',
  'root_count',
  'counted_seq',
  'participant_count',
]

/** Shows the conversation. @returns its ref, if another conversation has it */
async function finish(
  ctx: Context,
  conversation: Row,
  { owner_id, people }: ImportOptions,
): Promise<string | undefined> {
  const id = String(conversation.id)
  return ctx.write(
    async (tx) => {
      if (!(await cancelRemoval(tx, id)))
        throw new Error('The import was taken for an interrupted one, and is being removed')
      const ref = conversation.ref as string | null
      const isTakenRef = ref !== null && (await findConversationByRef(tx, ref)) !== undefined
      const columns = Object.entries(conversation).filter(([name]) => !BEGAN_WITH.includes(name))
      await show(tx, id, { ...Object.fromEntries(columns), ref: isTakenRef ? null : ref, salt: ctx.id() })
      if (owner_id !== undefined) {
        await insertParticipant(tx, id, { user_id: owner_id, role: 'owner', joined_at: ctx.now() })
        await updateRole(tx, id, owner_id, 'owner')
      }
      await storeFollowed(tx, id, { after: 0, limit: Number.MAX_SAFE_INTEGER })
      await recountConversation(tx, id)
      tx.audit({ act: 'conversation.imported', subject_id: id, conversation_id: id })
      const present = new Set(people.flatMap(({ by, user }) => (user && by !== 'placeholder' ? [user.id] : [])))
      for (const { user_id, role } of await listRoles(tx, id))
        if (present.has(user_id) || user_id === owner_id)
          tx.emit(id, { type: 'membership.changed', user_id, detail: { role, action: 'added' } })
      return isTakenRef ? ref : undefined
    },
    { timeout: false },
  )
}
