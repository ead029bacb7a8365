import { route } from '../../endpoint.ts'
import { SearchPage } from './schema.ts'
import * as service from './service.ts'

export const messages = route({
  method: 'GET',
  path: '/api/search',
  tag: 'Threads and messages',
  summary: 'Search messages, newest first',
  description:
    "In the conversations that the caller participates in now, also from before they joined; a message is found as soon as its post or edit has been answered, and not found once its deletion has. The names of its files are searched, too. Letters' case does not matter, nor marks of Latin, Greek, Cyrillic, Arabic and Hebrew letters. With `in`, `from`, `thread` or `has`, `q` may be empty. Continue with `cursor`.",
  access: 'session',
  output: SearchPage,
  run: service.messages,
})
