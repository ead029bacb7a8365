import { route } from '../../endpoint.ts'
import { CreatedNotice, Notices } from './schema.ts'
import * as service from './service.ts'

export const create = route({
  method: 'POST',
  path: '/api/conversations/{conversation_id}/notices',
  tag: 'Threads and messages',
  summary: 'Show a text to one participant alone',
  description:
    'For bots, and system actors by a server key (403 for persons). A notice is no message: it is in no thread, count, search or export, and no other user reads it. It ends after `ttl_seconds`, and when the reader or the author deletes it. A participant has at most 100 in a conversation; a new one then takes the place of the oldest. One of a bot counts as its message (`bots.messages_per_min`).',
  access: 'session',
  example: { user_id: '01890a5d-ac96-774b-bcce-b302099a8057', content: 'Your deploy to staging has failed.' },
  status: 201,
  output: CreatedNotice,
  run: service.create,
})

export const list = route({
  method: 'GET',
  path: '/api/conversations/{conversation_id}/notices',
  tag: 'Threads and messages',
  summary: 'List your notices in a conversation',
  description: 'Those that programs show to you alone and that have not ended, oldest first; at most 100.',
  access: 'session',
  output: Notices,
  run: service.list,
})

export const remove = route({
  method: 'DELETE',
  path: '/api/notices/{notice_id}',
  tag: 'Threads and messages',
  summary: 'Dismiss a notice',
  description: 'For its reader, and for its author. All streams of the reader get `notice.removed`.',
  access: 'session',
  status: 204,
  run: service.remove,
})
