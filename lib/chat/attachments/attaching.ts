import type { Context } from '../../context.ts'
import { ChatError } from '../../core/errors.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { NewPost } from '../messages/batch.ts'
import type { PostPart } from '../messages/post-parts.ts'
import { chooseFiles, toList } from './rules.ts'
import type { Attachment } from './schema.ts'
import {
  type AttachmentRow,
  attach,
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
 * Gives files to posts; `undefined` without any.
 *
 * @throws ChatError `not_found` where there are no files
 */
export function createAttaching({ config, now }: AttachingContext, posts: readonly NewPost[]): PostPart | undefined {
  const wanted = posts.flatMap(({ input }) => input.attachment_ids ?? [])
  if (wanted.length === 0) return undefined
  if (!config.attachments.enabled) throw new ChatError('not_found')
  const { scan } = config.attachments
  const chosen: { message_id: string; list: string; ids: readonly string[] }[] = []
  let rows: AttachmentRow[] = []

  return {
    /** Locks the files: no other message takes them. */
    async load(tx) {
      rows = await lockAttachments(tx, wanted)
    },

    /** @throws ChatError as {@link chooseFiles} */
    decide({ actor, input }, { target: { conversation_id } }) {
      const ids = input.attachment_ids ?? []
      if (ids.length === 0) return undefined
      const files = chooseFiles(rows, ids, { user_id: actor.user_id, conversation_id, now: now(), scan })
      return { attachment_list: toList(files.map(toAttachment)) }
    },

    add({ id, attachment_list }, { input }) {
      if (attachment_list) chosen.push({ message_id: id, list: attachment_list, ids: input.attachment_ids! })
    },

    store(tx) {
      for (const { message_id, list, ids } of chosen) {
        tx.defer(attach(tx, message_id, ids))
        tx.defer(setList(tx, message_id, list))
      }
    },
  }
}

/**
 * The files that a message of the user is about to get, in their order. Nothing is locked: they are chosen again when the
 * message is stored.
 *
 * @throws ChatError as {@link chooseFiles}; `not_found` where there are no files
 */
export async function listChosen(
  { config, db, now }: Pick<Context, 'config' | 'db' | 'now'>,
  { ids, ...to }: { ids: readonly string[]; user_id: string; conversation_id: string; message_id?: string },
): Promise<Attachment[]> {
  if (ids.length === 0) return []
  if (!config.attachments.enabled) throw new ChatError('not_found')
  const rows = await listAttachments(db, ids)
  return chooseFiles(rows, ids, { ...to, now: now(), scan: config.attachments.scan }).map(toAttachment)
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
  if (ids.length > 0 && !config.attachments.enabled) throw new ChatError('not_found')
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
