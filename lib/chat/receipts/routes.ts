import { route } from '../../endpoint.ts'
import { MessageReaders, ThreadReaders } from './schema.ts'
import * as service from './service.ts'

export const ofMessage = route({
  method: 'GET',
  path: '/api/messages/{message_id}/readers',
  tag: 'Threads and messages',
  summary: 'List who has read a message',
  description:
    'The participants whose read marker is at the arrival of the message or later, except its author and those who do not share what they read. Continue with `after`.',
  access: 'session',
  output: MessageReaders,
  run: service.ofMessage,
})

export const ofThread = route({
  method: 'GET',
  path: '/api/threads/{root_id}/readers',
  tag: 'Threads and messages',
  summary: 'List the read markers in a thread, latest first',
  description: 'Of the participants who share what they read; at most 1,000.',
  access: 'session',
  output: ThreadReaders,
  run: service.ofThread,
})
