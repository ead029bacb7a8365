// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Actor } from '../core/actor.ts'
import type {
  Attachment,
  AttachmentState,
  FileAnswer,
  FileInput,
  FileLink,
  LinkOptions,
  PartInput,
  ReadOptions,
  Upload,
} from './attachments.ts'

/** `chat.attachments`. */
export interface AttachmentsUseCases {
  /**
   * Begins the upload of a file into a conversation.
   *
   * @throws ChatError `not_found`, also where there are no files; `forbidden` for a viewer or a read-only user;
   * `payload_too_large` beyond `attachments.max_bytes`; `quota_exceeded`; `rate_limited` with 20 uploads under way;
   * `storage_full`; `unavailable` while the storage of files is missing; `validation_failed`
   */
  create(
    actor: Actor,
    conversation_id: string,
    input: {
      /**
       * 1 to 255 characters without `/`, `\`, control, invisible and bidirectional characters; not `.` or `..`. Outer
       * spaces are removed
       */
      name: string
      /** In bytes; at most `attachments.max_bytes` */
      size: number
      /** Media type; the file is served as what its bytes are */
      type?: string | undefined
    },
  ): Promise<Upload>

  /**
   * The state of an attachment: for its uploader, and once a message has it, for each user who may read or restore
   * the message.
   *
   * @throws ChatError `not_found`
   */
  get(actor: Actor, attachment_id: string): Promise<AttachmentState>

  /**
   * Deletes a file that no message has, or ends its upload.
   *
   * @throws ChatError `not_found`; `forbidden` for a file of another user; `conflict` for a file that a message has
   */
  remove(actor: Actor, attachment_id: string): Promise<void>

  /**
   * Makes a link that reads a file without a session, for `attachments.link_seconds`. It ends with the session or
   * the API key of the caller, and with the caller's right to read the file.
   *
   * @throws ChatError `not_found`; `attachment_not_ready`, `attachment_refused`; `forbidden` for a system actor;
   * `validation_failed`
   */
  link(actor: Actor, attachment_id: string, input?: { inline?: boolean | undefined }): Promise<FileLink>

  /**
   * Stores a part of an upload. The same part with the same bytes changes nothing, also when the upload is complete.
   *
   * The bytes are durable before the upload counts the part: a process that dies leaves no part without bytes.
   *
   * @param n the number of the part, from 1
   * @returns the attachment, for the call that completes the upload
   * @throws ChatError `not_found` for another's upload, one that ran out, and a part that it does not have;
   * `forbidden`; `validation_failed` for bytes of another length or digest; `conflict` for a part that is stored
   * with other bytes; `unsupported_media_type` for a type that is not allowed; `rate_limited` with too many parts at
   * once; `request_timeout` for one that is too slow while others wait; `storage_full`, `unavailable`
   */
  putPart(
    actor: Actor,
    attachmentId: string,
    n: number,
    part: PartInput,
  ): Promise<{ attachment: Attachment } | undefined>

  /**
   * Uploads a file into a conversation, part by part, of which one is in memory. What it began is removed when it
   * fails, or `signal` is aborted. A message gets the file with `attachment_ids`.
   *
   * @throws ChatError `validation_failed` for a file without bytes, a stream without `size`, and one of another
   * size; the codes of `attachments.create` and `attachments.putPart`; the reason of `signal`
   */
  upload(actor: Actor, conversationId: string, file: FileInput): Promise<{ attachment: Attachment }>

  /**
   * The bytes of a file, with the headers of a response. The rights are those at the time of the call. A user reads
   * up to `attachments.max_reads_per_user` files at once, and the first bytes of a further one wait; one counts
   * until its bytes are read, or left. What takes fewer than 64 KiB in 10 seconds while others wait for its place
   * loses it.
   *
   * @throws ChatError `not_found`, also for a deleted message; `attachment_not_ready`, `attachment_refused`;
   * `range_not_satisfiable`; `rate_limited`; `unavailable` while the storage of files is missing; when the bytes are
   * read, `rate_limited` or `unavailable` without a place, `request_timeout` for one that is lost, and `not_found`
   * if the bytes are missing
   */
  open(actor: Actor, attachmentId: string, options?: ReadOptions): Promise<FileAnswer>

  /**
   * The thumbnail of a picture, if the host has made one. The rights are those to the picture. A user reads as many
   * at once as files, and beside these.
   *
   * @throws ChatError `not_found`, also without a thumbnail; `attachment_not_ready`, `attachment_refused`;
   * `rate_limited`, also when the bytes are read; `unavailable`
   */
  openThumbnail(actor: Actor, attachmentId: string, options?: ReadOptions): Promise<FileAnswer>

  /**
   * The bytes of the file of a link, if the user who asked for it may still read the file.
   *
   * @throws ChatError `not_found` for an expired or forged link, and without the right; as `open` else
   */
  openLink(token: string, options?: LinkOptions): Promise<FileAnswer>
}
