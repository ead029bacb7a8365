import { route } from '../../endpoint.ts'
import { CancelledAnswer, Chunks } from './schema.ts'
import * as service from './service.ts'

export const listChunks = route({
  method: 'GET',
  path: '/api/messages/{message_id}/chunks',
  tag: 'Threads and messages',
  summary: 'List the chunks of an assistant answer',
  description:
    'Joined by `idx`, they are the original answer, also after an edit. Empty for other messages and for deleted ones. A page may end early: continue with `from`, the last `idx` + 1, until the page is empty.',
  access: 'session',
  output: Chunks,
  run: service.listChunks,
})

export const cancel = route({
  method: 'POST',
  path: '/api/messages/{message_id}/cancel',
  tag: 'Threads and messages',
  summary: 'Stop an assistant answer; the text so far is kept',
  description:
    'Allowed for the user who asked, and for owners and admins of the conversation. Returns the status of the message after the call; an ended answer does not change.',
  access: 'session',
  status: 202,
  output: CancelledAnswer,
  run: service.cancel,
})
