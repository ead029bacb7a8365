import type { Context } from '../../context.ts'
import { turnedOff } from '../../core/errors.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Micros } from '../../storage/sql.ts'
import type { NewPost } from '../messages/batch.ts'
import type { PostPart } from '../messages/post-parts.ts'
import { type AskedAgain, chooseAgain, type EarlierFiles, readEarlier } from './asked-again.ts'
import { type Attaching, chooseFiles, toList } from './rules.ts'
import type { Attachment } from './schema.ts'
import {
  type AttachmentRow,
  attach,
  copyAttachment,
  deleteAttachments,
  listAttachments,
  listOfMessage,
  lockAttachments,
  setList,
  toAttachment,
} from './store.ts'
import { blobsOf, releaseUnused } from './store-blobs.ts'

type AttachingContext = Pick<Context, 'config' | 'now'>

/**
 * Gives files to posts; `undefined` without any. The files of a question are copied for each variant of its answer: all of it goes with
 * that answer, and stays when another one is deleted.
 *
 * @throws ChatError `not_found` where there are no files
 */
export function createAttaching(
  { config, now, id: newId }: AttachingContext & Pick<Context, 'id'>,
  posts: readonly NewPost[],
): PostPart | undefined {
  const { enabled, scan } = config.attachments
  const wanted = posts.flatMap(({ input }) => input.attachment_ids ?? [])
  if (wanted.length > 0 && !enabled) throw turnedOff('attachments.enabled')
  const again = enabled ? posts.filter(({ input }) => input.variant_of !== undefined) : []
  if (wanted.length === 0 && again.length === 0) return undefined
  const chosen: { message_id: string; list: string; ids: readonly string[]; copies: readonly Copy[] }[] = []
  const decided = new Map<NewPost, Chosen>()
  let known: Known = { rows: [], earlier: new Map() }

  return {
    /** Locks the files: no other message takes them, and those that are copied keep their bytes. */
    async load(tx) {
      const earlier = new Map(
        await Promise.all(again.map(async (post) => [post, await readEarlier(tx, askedBy(post))] as const)),
      )
      const kept = [...earlier.values()].flatMap(({ files }) => files.map(({ id }) => id))
      known = { rows: await lockAttachments(tx, new Set([...wanted, ...kept])), earlier }
    },

    /** @throws ChatError as {@link chooseFiles} */
    decide(post, { target: { conversation_id } }) {
      if (!post.input.attachment_ids?.length && !known.earlier.has(post)) return undefined
      const files = choose(known, post, {
        to: { user_id: post.actor.user_id, conversation_id, now: now(), scan },
        newId,
      })
      decided.set(post, files)
      return { attachment_list: toList(files.rows.map(toAttachment)) }
    },

    add({ id, attachment_list }, post) {
      const files = decided.get(post)
      if (!attachment_list || !files) return
      chosen.push({
        message_id: id,
        list: attachment_list,
        ids: files.rows.map((file) => file.id),
        copies: files.copies,
      })
    },

    store(tx) {
      for (const { message_id, list, ids, copies } of chosen) {
        for (const { from, ...copy } of copies) tx.defer(copyAttachment(tx, from, copy))
        tx.defer(attach(tx, message_id, ids))
        tx.defer(setList(tx, message_id, list))
      }
    },
  }
}

/** A file that is to be stored with the bytes of another one. */
interface Copy {
  from: string
  id: string
  uploaded_by: string
  created_at: Micros
}

/** The files of a post, and those of them that are copies. */
interface Chosen {
  rows: AttachmentRow[]
  copies: Copy[]
}

/** What is read before posts are decided on. */
interface Known {
  rows: AttachmentRow[]
  /** By posts that ask again. */
  earlier: ReadonlyMap<NewPost, EarlierFiles>
}

function choose(known: Known, post: NewPost, { to, newId }: { to: Attaching; newId: () => string }): Chosen {
  const { attachment_ids } = post.input
  const locked = known.rows
  const earlier = known.earlier.get(post)
  if (!earlier) return { rows: chooseFiles(locked, attachment_ids ?? [], to), copies: [] }
  const byId = new Map(locked.map((row) => [row.id, row]))
  const present = { ...earlier, files: earlier.files.flatMap(({ id }) => byId.get(id) ?? []) }
  const copies: Copy[] = []
  const rows = chooseAgain(locked, attachment_ids, { earlier: present, to }).map(({ row, is_copied }) => {
    if (!is_copied) return row
    const own = { id: newId(), uploaded_by: to.user_id, created_at: to.now }
    copies.push({ from: row.id, ...own })
    return { ...row, ...own }
  })
  return { rows, copies }
}

const askedBy = ({ input, where }: NewPost): AskedAgain => ({
  variant_of: input.variant_of!,
  content: input.content,
  parent_id: 'parent_id' in where ? where.parent_id : null,
})

/**
 * The files that a message of the user is about to get, in their order. Nothing is locked: they are chosen again when the
 * message is stored.
 *
 * @throws ChatError as {@link chooseFiles}; `not_found` where there are no files
 */
export async function listChosen(
  { config, db, now }: Pick<Context, 'config' | 'db' | 'now'>,
  {
    ids,
    again,
    ...to
  }: {
    ids: readonly string[] | undefined
    user_id: string
    conversation_id: string
    message_id?: string
    /** Set for a question whose answer becomes a variant. */
    again?: AskedAgain | undefined
  },
): Promise<Attachment[]> {
  const { enabled, scan } = config.attachments
  if (ids?.length && !enabled) throw turnedOff('attachments.enabled')
  if (!enabled || (!ids?.length && !again)) return []
  const rows = ids?.length ? await listAttachments(db, ids) : []
  const place = { ...to, now: now(), scan }
  if (!again) return chooseFiles(rows, ids ?? [], place).map(toAttachment)
  const earlier = await readEarlier(db, again)
  return chooseAgain(rows, ids, { earlier, to: place }).map(({ row }) => toAttachment(row))
}

/** A message whose files are replaced. */
interface Edited {
  id: string
  conversation_id: string
  attachment_list?: string | null
}

/**
 * Gives a message of the user this list of files; those that it had before, and that are not in the list, are deleted.
 *
 * @throws ChatError as {@link chooseFiles}; `not_found` where there are no files
 */
export async function replaceFiles(
  { config, now }: AttachingContext,
  tx: Tx,
  { id, conversation_id, attachment_list = null }: Edited,
  replacement: { user_id: string; ids: readonly string[] },
): Promise<void> {
  const { user_id, ids } = replacement
  if (ids.length > 0 && !config.attachments.enabled) throw turnedOff('attachments.enabled')
  const rows = ids.length > 0 ? await lockAttachments(tx, ids) : []
  const to = { user_id, conversation_id, message_id: id, now: now(), scan: config.attachments.scan }
  const files = chooseFiles(rows, ids, to)
  const before = attachment_list === null ? [] : await listOfMessage(tx, id)
  const removed = before.filter((row) => !ids.includes(row.id))
  await deleteAttachments(
    tx,
    removed.map((row) => row.id),
  )
  await releaseUnused(tx, blobsOf(removed), now())
  await attach(tx, id, ids)
  await setList(tx, id, toList(files.map(toAttachment)))
}
