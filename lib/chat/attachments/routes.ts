import * as v from 'valibot'
import { route } from '../../endpoint.ts'
import {
  AttachmentState,
  CompletedUpload,
  ContentHeaders,
  ContentQuery,
  FileLink,
  PART_BYTES,
  PartHeaders,
  Upload,
} from './schema.ts'
import * as service from './service.ts'
import * as links from './service-links.ts'

/** How long a part may take. */
const PART_SECONDS = 300

const FILE_HEADERS = {
  'Accept-Ranges': 'always',
  'Cache-Control': 'always',
  'Content-Disposition': 'always',
  'Content-Range': 'maybe',
  ETag: 'always',
  'Last-Modified': 'always',
} as const

const READ_ERRORS = [
  'not_found',
  'attachment_not_ready',
  'attachment_refused',
  'range_not_satisfiable',
  'unavailable',
] as const

export const create = route({
  method: 'POST',
  path: '/api/conversations/{conversation_id}/attachments',
  tag: 'Attachments',
  summary: 'Begin to upload a file',
  description:
    'Allowed for participants who may post. The bytes follow in parts of 4 MiB, in any order. A file that no message has is deleted a day after its upload; an upload that is not complete, a day after its start.',
  access: 'session',
  example: { name: 'holiday.png', size: 48213, type: 'image/png' },
  status: 201,
  output: Upload,
  run: service.create,
})

export const putPart = route({
  method: 'PUT',
  path: '/api/attachments/{attachment_id}/parts/{n}',
  params: { n: v.pipe(v.number(), v.integer(), v.minValue(1)) },
  tag: 'Attachments',
  summary: 'Upload a part of a file',
  description:
    'For the uploader. The body is exactly part `n`, from 1: 4 MiB, or the rest of the file. A part may be sent again with the same bytes. The part that completes the file is answered with the attachment.',
  access: 'session',
  headers: PartHeaders,
  bytes: { bytes: PART_BYTES, seconds: PART_SECONDS },
  status: 200,
  status_if_empty: 204,
  output: CompletedUpload,
  errors: ['not_found', 'forbidden', 'conflict', 'unavailable'],
  handler: ({ chat, actor, params, headers, readBytes }) => {
    // Another spelling is no part.
    const n = /^[1-9]\d{0,8}$/.test(params.n) ? Number(params.n) : 0
    const part = { bytes: readBytes, content_digest: headers.get('content-digest') }
    // Without a result, the status is another one.
    return chat.attachments.putPart(actor, params.attachment_id, n, part) as Promise<CompletedUpload>
  },
})

export const get = route({
  method: 'GET',
  path: '/api/attachments/{attachment_id}',
  tag: 'Attachments',
  summary: 'Read the state of a file',
  description:
    'For its uploader; once a message has it, for those who may read the message. With `received`, an upload can go on where it stopped.',
  access: 'session',
  output: AttachmentState,
  run: service.get,
})

export const remove = route({
  method: 'DELETE',
  path: '/api/attachments/{attachment_id}',
  tag: 'Attachments',
  summary: 'Delete a file that no message has',
  description:
    'For the uploader. It also ends an upload. A file of a message is removed by editing or deleting the message.',
  access: 'session',
  status: 204,
  run: service.remove,
})

export const content = route({
  method: 'GET',
  path: '/api/attachments/{attachment_id}/content',
  tag: 'Attachments',
  summary: 'Read a file',
  description:
    'For those who may read its message. It is served as what its bytes are, and to be saved; with `inline=true` pictures, audio and video may be shown. One range of bytes is supported.',
  access: 'session',
  answer: 'file',
  query: ContentQuery,
  headers: ContentHeaders,
  file_statuses: [206, 304],
  response_headers: FILE_HEADERS,
  errors: READ_ERRORS,
  handler: ({ chat, actor, params, query, headers }) =>
    chat.attachments.open(actor, params.attachment_id, { inline: query.inline, headers }),
})

export const thumbnail = route({
  method: 'GET',
  path: '/api/attachments/{attachment_id}/thumbnail',
  tag: 'Attachments',
  summary: 'Read the thumbnail of a picture',
  description:
    'For those who may read its message. At most 512 × 512 pixels, as WebP, PNG or JPEG. Not found unless the attachment has `thumbnail`.',
  access: 'session',
  answer: 'file',
  headers: ContentHeaders,
  file_statuses: [206, 304],
  response_headers: FILE_HEADERS,
  errors: READ_ERRORS,
  handler: ({ chat, actor, params, headers }) =>
    chat.attachments.openThumbnail(actor, params.attachment_id, { headers }),
})

export const link = route({
  method: 'POST',
  path: '/api/attachments/{attachment_id}/link',
  tag: 'Attachments',
  summary: 'Create a link to a file',
  description:
    'It reads the file without a session for `attachments.link_seconds` (300), as long as the caller is signed in and may read the message.',
  access: 'session',
  body_optional: true,
  example: { inline: true },
  output: FileLink,
  run: links.link,
})

export const linked = route({
  method: 'GET',
  path: '/api/files/{token}',
  tag: 'Attachments',
  summary: 'Read a file by a link',
  description: 'Needs no session. The rights of the user who created the link are looked up at each call.',
  access: 'public',
  answer: 'file',
  headers: ContentHeaders,
  file_statuses: [206, 304],
  response_headers: FILE_HEADERS,
  errors: READ_ERRORS,
  handler: ({ chat, params, headers }) => chat.attachments.openLink(params.token, { headers }),
})
