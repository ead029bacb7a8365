import { route } from '../../endpoint.ts'
import { FollowedThreads, ThreadPage, TreePage, UnreadThreads } from './schema.ts'
import * as service from './service.ts'
import * as followed from './service-followed.ts'
import * as ofTitle from './service-title.ts'

export const list = route({
  method: 'GET',
  path: '/api/conversations/{conversation_id}/threads',
  tag: 'Threads and messages',
  summary: 'List threads, latest activity first',
  description: "Each with the caller's unread count. Continue with `after`: threads with older last activity.",
  access: 'session',
  response_headers: { 'Stream-Position': 'always' },
  output: ThreadPage,
  run: service.list,
})

export const listFollowed = route({
  method: 'GET',
  path: '/api/threads',
  tag: 'Threads and messages',
  summary: 'List the threads that the caller follows',
  description:
    'Of all conversations, those with a reply, latest activity first. Continue with `after`. A thread that becomes active in the meantime moves to the front; the others are each returned once.',
  access: 'session',
  output: FollowedThreads,
  run: followed.listFollowed,
})

export const tree = route({
  method: 'GET',
  path: '/api/threads/{root_id}/tree',
  tag: 'Threads and messages',
  summary: 'Read a thread, depth first',
  description:
    'Each message comes before its replies, siblings in the order they arrived. A page ends early if messages are long. Continue with `cursor_path`.',
  access: 'session',
  response_headers: { 'Stream-Position': 'always' },
  output: TreePage,
  run: service.tree,
})

export const setTitle = route({
  method: 'PATCH',
  path: '/api/threads/{root_id}',
  tag: 'Threads and messages',
  summary: 'Change the title of a thread',
  description:
    'Allowed for the author of its root, for a question the user who asked, and for owners and admins of the conversation, if they may post. An empty title removes it. Participants get `thread.updated`.',
  access: 'session',
  example: { title: 'Does it run?' },
  status: 204,
  run: ofTitle.setTitle,
})

export const unread = route({
  method: 'GET',
  path: '/api/conversations/{conversation_id}/unread',
  tag: 'Threads and messages',
  summary: 'List threads with unread messages',
  description:
    "Counts messages of others that arrived after the caller's read marker in each thread, and after the caller joined. Latest activity first; continue with `after`.",
  access: 'session',
  response_headers: { 'Stream-Position': 'always' },
  output: UnreadThreads,
  run: service.unread,
})

export const markRead = route({
  method: 'POST',
  path: '/api/threads/{root_id}/read',
  tag: 'Threads and messages',
  summary: 'Mark a thread as read',
  description:
    'Up to the arrival of the message with that `path` or `message_id`, or the whole thread. A read marker never moves back.',
  access: 'session',
  example: { message_id: '01980a3c-9000-7a10-8b20-0c4f1d2e3a45' },
  body_optional: true,
  status: 204,
  run: service.markRead,
})

export const markUnread = route({
  method: 'POST',
  path: '/api/threads/{root_id}/unread',
  tag: 'Threads and messages',
  summary: 'Mark a thread as unread from a message on',
  description:
    "That message and those that arrived after it are unread again, except the caller's own and those from before the caller joined. Other users notice nothing.",
  access: 'session',
  example: { message_id: '01980a3c-9000-7a10-8b20-0c4f1d2e3a45' },
  status: 204,
  run: service.markUnread,
})
