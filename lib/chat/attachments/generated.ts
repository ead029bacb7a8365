import { toActor } from '../../accounts/users/rules.ts'
import { findUser } from '../../accounts/users/store.ts'
import type { Context } from '../../context.ts'
import { ChatError } from '../../core/errors.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { toList } from './rules.ts'
import { type Attachment, MAX_FILES } from './schema.ts'
import { type AttachmentRow, attachGenerated, listOfMessage, lockAttachment, setList, toAttachment } from './store.ts'
import { upload } from './uploading.ts'

/** A file that an assistant has made. */
export interface GeneratedFile {
  name: string
  bytes: Uint8Array
  signal?: AbortSignal
}

/**
 * Stores a file of an assistant as an upload of the user who asked: with the limits and the types of theirs, and counted with
 * their files. An answer gets it by {@link addGenerated}.
 *
 * @throws ChatError as an upload of the user
 */
export async function storeGenerated(
  ctx: Context,
  userId: string,
  conversationId: string,
  file: GeneratedFile,
): Promise<Attachment> {
  const user = await findUser(ctx.db, userId)
  if (!user || user.disabled_at) throw new ChatError('not_found')
  return (await upload(ctx, toActor(user), conversationId, file)).attachment
}

/**
 * Gives an answer a file that was stored for it, unless that is gone or the assistant has made as many as a message may have. Those of
 * the question do not count.
 */
export async function addGenerated(tx: Tx, messageId: string, attachmentId: string): Promise<void> {
  const file = await lockAttachment(tx, attachmentId)
  const files = await listOfMessage(tx, messageId)
  if (!file || file.message_id !== null || countGenerated(files) >= MAX_FILES) return
  await attachGenerated(tx, { id: attachmentId, message_id: messageId, position: files.length })
  await setList(tx, messageId, toList((await listOfMessage(tx, messageId)).map(toAttachment)))
}

/** How many files an answer may still get. */
export async function roomForFiles(tx: Tx, messageId: string): Promise<number> {
  return MAX_FILES - countGenerated(await listOfMessage(tx, messageId))
}

const countGenerated = (files: readonly AttachmentRow[]) => files.filter(({ generated }) => generated === 1).length
