import { route } from '../../endpoint.ts'
import { RepliesPage, TimelinePage } from './schema.ts'
import * as service from './service.ts'

export const list = route({
  method: 'GET',
  path: '/api/conversations/{conversation_id}/messages',
  tag: 'Threads and messages',
  summary: 'Read a conversation by arrival',
  description:
    'Roots of threads, or all messages. Without a place the newest page; `before`, `after` or `around` begin at a message. A page ends early if messages are long. Continue with `before=next_before` and `after=next_after`.',
  access: 'session',
  response_headers: { 'Stream-Position': 'always' },
  output: TimelinePage,
  run: service.list,
})

export const replies = route({
  method: 'GET',
  path: '/api/threads/{root_id}/messages',
  tag: 'Threads and messages',
  summary: 'Read the replies of a thread by arrival',
  description:
    'Replies of all depths, and the root on each page. Places and pages are those of a conversation; the id of the root stands before all replies.',
  access: 'session',
  response_headers: { 'Stream-Position': 'always' },
  output: RepliesPage,
  run: service.replies,
})
