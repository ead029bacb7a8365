import { route } from '../../endpoint.ts'
import { CancelledAnswer, Chunks } from './schema.ts'
import * as service from './service.ts'

export const listChunks = route({
  method: 'GET',
  path: '/api/messages/{message_id}/chunks',
  tag: 'Threads and messages',
  summary: 'What an answer of the assistant was produced as, piece by piece',
  description:
    'Together, by `idx`, they are what was produced, also after an edit. Empty for other messages and for deleted ones. A page may end early: go on with `from`, the last `idx` + 1, until nothing comes.',
  access: 'session',
  output: Chunks,
  run: service.listChunks,
})

export const cancel = route({
  method: 'POST',
  path: '/api/messages/{message_id}/cancel',
  tag: 'Threads and messages',
  summary: 'Stop an answer of the assistant; what was produced stays',
  description:
    'For who asked for it, and the owners and admins of the conversation. Answers with the status the message has then; one that is not being written stays as it is.',
  access: 'session',
  status: 202,
  output: CancelledAnswer,
  run: service.cancel,
})
