import { contextOf } from '../../core/context-of.ts'
import { route } from '../../endpoint.ts'
import { ContentHeaders } from '../attachments/schema.ts'
import { PhotoAnswer } from './schema.ts'
import * as service from './service.ts'

/** How long a photo may take to arrive. */
const PHOTO_SECONDS = 60

export const setAvatar = route({
  method: 'PUT',
  path: '/api/auth/me/avatar',
  tag: 'Authentication',
  metrics: false,
  summary: 'Set your photo',
  description:
    'The body is the picture: JPEG, PNG or WebP by its first bytes, whatever `Content-Type` says, of at most `avatars.max_bytes` and 4,096 pixels a side. Metadata, animation and what follows the picture are removed. Every photo has a new URL, and the one before is 404. Ten an hour, refused ones too. Guests set none. `conflict` while the application around the service has a photo of you.',
  access: 'session',
  bytes: { bytes: ({ avatars }) => avatars.max_bytes, seconds: PHOTO_SECONDS, is_free: true },
  before: async ({ chat }) => service.assertEnabled(contextOf(chat)),
  output: PhotoAnswer,
  errors: ['not_found', 'forbidden', 'conflict', 'rate_limited', 'storage_full', 'unavailable'],
  handler: ({ chat, actor, readBytes }) => chat.auth.setAvatar(actor, readBytes),
})

export const removeAvatar = route({
  method: 'DELETE',
  path: '/api/auth/me/avatar',
  tag: 'Authentication',
  metrics: false,
  summary: 'Remove your photo',
  description: 'Removes the photo that you have set, if any. Its URL is 404 at once.',
  access: 'session',
  status: 204,
  run: service.removeAvatar,
})

export const removeAvatarOf = route({
  method: 'DELETE',
  path: '/api/admin/users/{user_id}/avatar',
  tag: 'Administration',
  summary: 'Remove the photo that a user has set',
  description: 'Its URL is 404 at once. A photo that the application around the service has of the user stays.',
  access: 'admin',
  status: 204,
  run: service.removeAvatarOf,
})

export const avatar = route({
  method: 'GET',
  path: '/api/avatars/{key}',
  tag: 'Users',
  summary: 'Read the photo of a user',
  description:
    'Needs no session: its URL cannot be guessed. It never changes; a photo that was replaced or removed is 404.',
  access: 'public',
  answer: 'file',
  headers: ContentHeaders,
  file_statuses: [206, 304],
  response_headers: {
    'Accept-Ranges': 'always',
    'Cache-Control': 'always',
    'Content-Disposition': 'always',
    'Content-Range': 'maybe',
    ETag: 'always',
    'Last-Modified': 'always',
  },
  errors: ['not_found', 'range_not_satisfiable', 'unavailable'],
  handler: ({ chat, params, headers }) => chat.users.openAvatar(params.key, { headers }),
})
