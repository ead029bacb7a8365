import { route } from '../../endpoint.ts'
import { FeedbackPage } from './schema.ts'
import * as service from './service.ts'

export const set = route({
  method: 'PUT',
  path: '/api/messages/{message_id}/feedback',
  tag: 'Threads and messages',
  summary: 'Rate an answer',
  description:
    'For all readers of the conversation but `read_only` users, of answers of the assistant (`conflict` for others). It takes the place of an earlier rating. Reads of the message have your own as `feedback`; only administrators read those of others.',
  access: 'session',
  example: { rating: 'down', reason: 'The cited page does not exist.' },
  status: 204,
  run: service.set,
})

export const remove = route({
  method: 'DELETE',
  path: '/api/messages/{message_id}/feedback',
  tag: 'Threads and messages',
  summary: 'Take back your rating of an answer',
  description: 'Without one, nothing changes.',
  access: 'session',
  status: 204,
  run: service.remove,
})

export const list = route({
  method: 'GET',
  path: '/api/admin/feedback',
  tag: 'Administration',
  summary: 'List the ratings of answers, latest first',
  description: 'Continue with `after`. A rating that was changed is listed by its last change.',
  access: 'admin',
  output: FeedbackPage,
  run: service.list,
})
