import { route } from '../../endpoint.ts'
import * as service from './service-follows.ts'

export const follow = route({
  method: 'PUT',
  path: '/api/threads/{root_id}/follow',
  tag: 'Threads and messages',
  summary: 'Follow a thread',
  description:
    'From now on. Authors of a thread, and users that a message mentions by name, follow it without a call. If the caller follows it already, nothing changes.',
  access: 'session',
  status: 204,
  run: service.follow,
})

export const unfollow = route({
  method: 'DELETE',
  path: '/api/threads/{root_id}/follow',
  tag: 'Threads and messages',
  summary: 'Stop following a thread',
  description: 'Until the caller replies in it again. A mention then only notifies.',
  access: 'session',
  status: 204,
  run: service.unfollow,
})
