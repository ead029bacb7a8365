import { route } from '../../endpoint.ts'
import { Emoji, ReactionPage } from './schema.ts'
import * as service from './service.ts'

export const add = route({
  method: 'PUT',
  path: '/api/messages/{message_id}/reactions/{emoji}',
  params: { emoji: Emoji },
  tag: 'Threads and messages',
  summary: 'React to a message',
  description:
    'Allowed for participants who may post. If the reaction exists, nothing changes. U+FE0F and U+FE0E are ignored: all spellings of ❤️ are one. A message has reactions with at most `limits.reactions_per_message` (32) emoji (`conflict`).',
  access: 'session',
  status: 204,
  run: service.add,
})

export const remove = route({
  method: 'DELETE',
  path: '/api/messages/{message_id}/reactions/{emoji}',
  params: { emoji: Emoji },
  tag: 'Threads and messages',
  summary: 'Remove your reaction from a message',
  description:
    'If there is none, nothing changes. With `all=true`, owners and admins of the conversation remove those of all users with this emoji.',
  access: 'session',
  status: 204,
  run: service.remove,
})

export const list = route({
  method: 'GET',
  path: '/api/messages/{message_id}/reactions',
  tag: 'Threads and messages',
  summary: 'List the reactions to a message, oldest first',
  description: 'One entry for each user and emoji. Continue with `after`.',
  access: 'session',
  output: ReactionPage,
  run: service.list,
})
