import { route } from '../../endpoint.ts'
import { ReadMark, ThreadPage, ThreadsQuery, TreePage, TreeQuery, UnreadQuery, UnreadThreads } from './schema.ts'

export const list = route({
  method: 'GET',
  path: '/api/conversations/{conversation_id}/threads',
  tag: 'Threads and messages',
  summary: 'List threads, latest activity first',
  description:
    'Each with how much of it the caller has not read. Goes on with `after`: threads whose last activity is older.',
  access: 'session',
  query: ThreadsQuery,
  output: ThreadPage,
  errors: ['not_found'],
  handler: ({ chat, actor, params, query }) => chat.threads.list(actor, params.conversation_id, query),
})

export const tree = route({
  method: 'GET',
  path: '/api/threads/{root_id}/tree',
  tag: 'Threads and messages',
  summary: 'Read a thread, depth first',
  description:
    'Each message comes before its replies, siblings in the order they arrived. A page ends early where messages are long. Goes on with `cursor_path`.',
  access: 'session',
  query: TreeQuery,
  output: TreePage,
  errors: ['not_found', 'invalid_cursor'],
  handler: ({ chat, actor, params, query }) => chat.threads.tree(actor, params.root_id, query),
})

export const unread = route({
  method: 'GET',
  path: '/api/conversations/{conversation_id}/unread',
  tag: 'Threads and messages',
  summary: 'Where something is unread, and how much',
  description:
    "Counts what others have written that arrived after the caller's mark in each thread, and after the caller joined. Latest activity first; goes on with `after`.",
  access: 'session',
  query: UnreadQuery,
  output: UnreadThreads,
  errors: ['not_found'],
  handler: ({ chat, actor, params, query }) => chat.threads.unread(actor, params.conversation_id, query),
})

export const markRead = route({
  method: 'POST',
  path: '/api/threads/{root_id}/read',
  tag: 'Threads and messages',
  summary: 'Mark a thread read',
  description:
    'Up to the arrival of the message with that `path` or `message_id`, or all of it. A mark never moves back.',
  access: 'session',
  body: ReadMark,
  example: { message_id: '01980a3c-9000-7a10-8b20-0c4f1d2e3a45' },
  body_optional: true,
  status: 204,
  errors: ['not_found'],
  handler: ({ chat, actor, params, body }) => chat.threads.markRead(actor, params.root_id, body),
})
