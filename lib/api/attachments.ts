// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'

/** `client.attachments`. */
export interface AttachmentsClient {
  /**
   * Begin to upload a file.
   *
   * Allowed for participants who may post. The bytes follow in parts of 4 MiB, in any order. A file that no message
   * has is deleted a day after its upload; an upload that is not complete, a day after its start.
   *
   * @throws ChatError `not_found`, `forbidden`, `payload_too_large`, `quota_exceeded`, `rate_limited`,
   * `storage_full`, `validation_failed`
   */
  create(
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
    options?: CallOptions,
  ): Promise<Upload>

  /**
   * Read the state of a file.
   *
   * For its uploader; once a message has it, for those who may read the message. With `received`, an upload can go
   * on where it stopped.
   *
   * @throws ChatError `not_found`
   */
  get(attachment_id: string, options?: CallOptions): Promise<AttachmentState>

  /**
   * Create a link to a file.
   *
   * It reads the file without a session for `attachments.link_seconds` (300), as long as the caller is signed in and
   * may read the message.
   *
   * @throws ChatError `not_found`, `forbidden`, `attachment_not_ready`, `attachment_refused`, `validation_failed`
   */
  link(attachment_id: string, input?: { inline?: boolean | undefined }, options?: CallOptions): Promise<FileLink>

  /**
   * Delete a file that no message has.
   *
   * For the uploader. It also ends an upload. A file of a message is removed by editing or deleting the message.
   *
   * @throws ChatError `not_found`, `forbidden`, `conflict`
   */
  remove(attachment_id: string, options?: CallOptions): Promise<void>
}

/** A file of a message, or one that is being uploaded. */
export interface Attachment {
  id: string
  /** For people: it is no path */
  name: string
  /** In bytes */
  size: number
  /** Media type, as recognised by the first bytes; of a file that is not recognised, what its sender calls it */
  type: string
  /** Only a `ready` file can be read; `gone`: its bytes are deleted */
  status: 'uploading' | 'scanning' | 'ready' | 'refused' | 'gone'
  /** Why it is `refused`, for its uploader and moderators; no message has it */
  reason?: string
  /** Of a picture, in pixels */
  width?: number
  height?: number
  /** There is a thumbnail */
  thumbnail?: true
  uploaded_by?: string
  created_at: string
}

/** The start of an upload: its parts may be sent in any order, and at once. */
export interface Upload {
  attachment: Attachment
  /** The size of every part but the last */
  part_bytes: number
  /** The number of parts */
  parts: number
  /** When the upload is deleted unless it is complete */
  upload_expires_at: string
}

/** An attachment, and the state of its upload. */
export interface AttachmentState {
  attachment: Attachment
  /** The numbers of the parts that are there, while it is uploaded */
  received?: number[]
  /** When it is deleted unless a message has it by then */
  upload_expires_at?: string
}

/** A link that reads a file without a session. */
export interface FileLink {
  /** Absolute with `server.public_url`, else a path */
  url: string
  expires_at: string
}

/** The bytes of a part. */
export interface PartInput {
  /**
   * The bytes, or a function that reads them when their number is known, and it is their turn. It may fill and return the
   * buffer that it gets, which is used for other parts once this one is stored. It calls `onBytes` with the number of bytes of
   * each piece; fewer than 64 KiB in 10 seconds abort `signal` while others wait. It is also aborted when the service stops.
   */
  bytes: Uint8Array | ReadPart
  /** The `Content-Digest` of the part: with another SHA-256 it is refused. */
  content_digest?: string | null | undefined
}

/** Reads the bytes of a part. */
export type ReadPart = (
  length: number,
  buffer: Uint8Array,
  signal: AbortSignal,
  onBytes: (count: number) => void,
) => Promise<Uint8Array>

/** A file of the host. */
export interface FileInput {
  name: string
  /** Media type; the file is served as what its bytes are. */
  type?: string
  /** All of its bytes: or a `stream`. */
  bytes?: Uint8Array
  /** The bytes in pieces, read as they are stored: with `size`, as an upload begins with the number of its bytes. */
  stream?: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>
  /** The number of bytes of `stream`. */
  size?: number
  /** Ends the upload. */
  signal?: AbortSignal
}

/** How a file is requested. */
export interface ReadOptions {
  /** The headers of a request, of which `Range`, `If-Range` and `If-None-Match` are read. */
  headers?: RequestHeaders
  /** Whether a browser may show a picture, audio or video. Default: it saves them. */
  inline?: boolean
  /** Whether pages of other origins may have it. Default: they may not. */
  is_shared?: boolean
}

/** The headers of a request, by their names. */
export interface RequestHeaders {
  get(name: string): string | null
}

/** The bytes of a file, or of a part of it. */
export interface FileAnswer {
  /** 200; 206 for a part; 304 if the caller has it. */
  status: 200 | 206 | 304
  /** The headers of a response, which replace the common ones of these names; names in lower case. */
  headers: Readonly<Record<string, string>>
  /** The number of bytes that follow. */
  length: number
  /** The bytes in pieces of at most 64 KiB, read as they are needed. */
  bytes: AsyncIterable<Uint8Array>
  /** Aborted when the reader is too slow while others wait: it gets no further bytes. */
  signal?: AbortSignal
}

/** How the file of a link is requested. */
export interface LinkOptions {
  /** The headers of a request, of which `Range`, `If-Range` and `If-None-Match` are read. */
  headers?: RequestHeaders
}

/** Files, and their bytes. */
export interface FileTotals {
  attachments: number
  uploading: number
  scanning: number
  ready: number
  refused: number
  gone: number
  unattached: number
  blobs: number
  bytes: number
  released: number
  released_bytes: number
  due: number
  expired: number
}
