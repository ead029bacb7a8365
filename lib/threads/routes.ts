import { route } from '../http/route.ts'
import { ThreadPage, ThreadsQuery, TreePage, TreeQuery } from './schema.ts'

export const listThreads = route({
  method: 'GET',
  path: '/api/conversations/{conversation_id}/threads',
  tag: 'Threads and messages',
  summary: 'List threads, latest activity first',
  access: 'session',
  query: ThreadsQuery,
  output: ThreadPage,
  errors: ['not_found'],
  handler: ({ chat, actor, params, query }) => chat.threads.list(actor, params.conversation_id, query),
})

export const readThread = route({
  method: 'GET',
  path: '/api/threads/{root_id}/tree',
  tag: 'Threads and messages',
  summary: 'Read a thread, depth first',
  access: 'session',
  query: TreeQuery,
  output: TreePage,
  errors: ['not_found', 'invalid_cursor'],
  handler: ({ chat, actor, params, query }) => chat.threads.tree(actor, params.root_id, query),
})
