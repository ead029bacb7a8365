import { route } from '../../endpoint.ts'
import { NotificationPage } from './schema.ts'
import * as service from './service.ts'

export const list = route({
  method: 'GET',
  path: '/api/notifications',
  tag: 'Notifications',
  summary: 'Read your inbox, newest first',
  description:
    'What concerns you: mentions, replies to your messages, messages of direct conversations, and conversations you were added to. Those of conversations you have left are not shown. `unread` counts the whole inbox, whatever the filters.',
  access: 'session',
  output: NotificationPage,
  run: service.list,
})

export const markRead = route({
  method: 'POST',
  path: '/api/notifications/read',
  tag: 'Notifications',
  summary: 'Mark notifications as read',
  description:
    'Either those with these `ids`, or all up to the one `up_to`. Unknown ids are passed over. It moves no read marker; to read a thread up to a message also reads its notifications.',
  access: 'session',
  example: { ids: ['01980a3c-9000-7a10-8b20-0c4f1d2e3a45'] },
  status: 204,
  run: service.markRead,
})
