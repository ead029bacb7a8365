import * as v from 'valibot'
import { Id, Instant, opaque } from '../../core/schema.ts'
import { FileName, MediaType } from '../../files/schema.ts'

/** The size of every part of an upload but the last. */
export const PART_BYTES = 4 * 1024 * 1024

/** The maximum number of files of a message. */
export const MAX_FILES = 10

const Count = v.pipe(v.number(), v.integer(), v.minValue(1))

/** A file of a message, or one that is being uploaded. */
export const Attachment = v.object({
  id: Id,
  name: v.pipe(v.string(), v.description('For people: it is no path')),
  size: v.pipe(Count, v.description('In bytes')),
  type: v.pipe(
    v.string(),
    v.description(
      'Media type, as recognised by the first bytes; of a file that is not recognised, what its sender calls it',
    ),
  ),
  status: v.pipe(
    v.picklist(['uploading', 'scanning', 'ready', 'refused', 'gone']),
    v.description('Only a `ready` file can be read; `gone`: its bytes are deleted'),
  ),
  reason: v.optional(
    v.pipe(v.string(), v.description('Why it is `refused`, for its uploader and moderators; no message has it')),
  ),
  width: v.optional(v.pipe(Count, v.description('Of a picture, in pixels'))),
  height: v.optional(Count),
  thumbnail: v.optional(v.pipe(v.literal(true), v.description('There is a thumbnail'))),
  generated: v.optional(v.pipe(v.literal(true), v.description('An assistant has made it'))),
  uploaded_by: v.optional(Id),
  created_at: Instant,
})
export type Attachment = v.InferOutput<typeof Attachment>

/** What is said of a file before its bytes are sent. */
export const AttachmentInput = v.object({
  name: v.pipe(
    FileName,
    v.description(
      '1 to 255 characters without `/`, `\\`, control, invisible and bidirectional characters; not `.` or `..`. Outer spaces are removed',
    ),
  ),
  size: v.pipe(Count, v.maxValue(Number.MAX_SAFE_INTEGER), v.description('In bytes; at most `attachments.max_bytes`')),
  type: v.optional(v.pipe(MediaType, v.description('Media type; the file is served as what its bytes are'))),
})
export type AttachmentInput = v.InferOutput<typeof AttachmentInput>

/** The start of an upload: its parts may be sent in any order, and at once. */
export const Upload = v.object({
  attachment: Attachment,
  part_bytes: v.pipe(Count, v.description('The size of every part but the last')),
  parts: v.pipe(Count, v.description('The number of parts')),
  upload_expires_at: v.pipe(Instant, v.description('When the upload is deleted unless it is complete')),
})
export type Upload = v.InferOutput<typeof Upload>

/** An attachment, and the state of its upload. */
export const AttachmentState = v.object({
  attachment: Attachment,
  received: v.optional(
    v.pipe(v.array(Count), v.description('The numbers of the parts that are there, while it is uploaded')),
  ),
  upload_expires_at: v.optional(v.pipe(Instant, v.description('When it is deleted unless a message has it by then'))),
})
export type AttachmentState = v.InferOutput<typeof AttachmentState>

/** The response to the part that completes an upload. */
export const CompletedUpload = v.object({ attachment: Attachment })
export type CompletedUpload = v.InferOutput<typeof CompletedUpload>

export const PartHeaders = v.object({
  'content-digest': v.optional(
    v.pipe(
      v.string(),
      v.maxLength(1000),
      v.description('`sha-256=:…:` (RFC 9530): a part with other bytes is refused'),
    ),
  ),
})

export const ContentQuery = v.object({
  inline: v.optional(
    v.pipe(v.boolean(), v.description('`true`: a browser may show a picture, audio or video instead of saving it')),
  ),
})

/** The longest header about a range, in characters: all of them together fit into what Node takes. */
const MAX_HEADER = 2048

export const ContentHeaders = v.object({
  range: v.optional(
    v.pipe(opaque(MAX_HEADER), v.description('One range of bytes; anything else is answered with the whole file')),
  ),
  'if-range': v.optional(v.pipe(opaque(MAX_HEADER), v.description('The `ETag` of which a part is asked for'))),
  'if-none-match': v.optional(v.pipe(opaque(MAX_HEADER), v.description('The `ETag` that the caller has'))),
})

export const LinkInput = v.object({ inline: v.optional(v.boolean()) })

/** A link that reads a file without a session. */
export const FileLink = v.object({
  url: v.pipe(v.string(), v.description('Absolute with `server.public_url`, else a path')),
  expires_at: Instant,
})
export type FileLink = v.InferOutput<typeof FileLink>

/** The files of a post. */
export const AttachmentIds = v.pipe(
  v.array(Id),
  v.maxLength(MAX_FILES, `must be at most ${MAX_FILES} files`),
  v.check((ids) => new Set(ids).size === ids.length, 'must name each file once'),
  v.metadata({ uniqueItems: true }),
  v.description('Files that the caller has uploaded into this conversation; with one, `content` may be empty'),
)
