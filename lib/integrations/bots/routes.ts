import { ApiKeys, CreatedKey } from '../../accounts/api-keys/schema.ts'
import { route } from '../../endpoint.ts'
import { BotAnswer, Bots, CreatedBot } from './schema.ts'
import * as service from './service.ts'

export const create = route({
  method: 'POST',
  path: '/api/bots',
  tag: 'Users',
  summary: 'Make a bot of your own',
  description:
    'A bot is a user without a sign-in, which acts by its keys. The first key is shown only here. What the bot creates belongs to you. Requires a sign-in within the last ten minutes, or `POST /api/auth/confirm` (`confirmation_required`). A user has at most `bots.max_per_user` bots (`conflict`). Not with an API key. 404 unless `bots.enabled`.',
  access: 'session',
  example: { username: 'deploys', display_name: 'Deploys', description: 'Posts what is deployed' },
  status: 201,
  output: CreatedBot,
  run: service.createOwn,
})

export const list = route({
  method: 'GET',
  path: '/api/bots',
  tag: 'Users',
  summary: 'List your bots',
  description:
    'All of them, oldest first; a disabled one has `disabled` and `disabled_reason`. 404 unless `bots.enabled`.',
  access: 'session',
  output: Bots,
  run: service.listOwn,
})

export const change = route({
  method: 'PATCH',
  path: '/api/bots/{bot_id}',
  tag: 'Users',
  summary: 'Rename, describe, disable or enable one of your bots',
  description:
    'Missing fields keep their value. A disabled bot keeps its keys, which are refused until it is enabled. One that an administrator has disabled is enabled by an administrator only. Not with an API key.',
  access: 'session',
  example: { description: 'Posts what is deployed, and where' },
  output: BotAnswer,
  run: service.change,
})

export const remove = route({
  method: 'DELETE',
  path: '/api/bots/{bot_id}',
  tag: 'Users',
  summary: 'Erase one of your bots',
  description:
    'Its keys end at once. Its messages stay without an author, or lose their text with `messages=erase`. It cannot be undone. Not with an API key.',
  access: 'session',
  status: 204,
  run: service.remove,
})

export const listKeys = route({
  method: 'GET',
  path: '/api/bots/{bot_id}/keys',
  tag: 'Users',
  summary: 'List the API keys of one of your bots',
  description: 'Each key without its secret, and when it was last used, to the minute. Not with an API key.',
  access: 'session',
  output: ApiKeys,
  run: service.listKeys,
})

export const createKey = route({
  method: 'POST',
  path: '/api/bots/{bot_id}/keys',
  tag: 'Users',
  summary: 'Create another API key of one of your bots',
  description:
    'The key is shown only once. A bot has at most 50. Requires a sign-in within the last ten minutes, or `POST /api/auth/confirm` (`confirmation_required`). Not with an API key.',
  access: 'session',
  example: { name: 'The new server' },
  status: 201,
  output: CreatedKey,
  run: service.createKey,
})

export const revokeKey = route({
  method: 'DELETE',
  path: '/api/bots/{bot_id}/keys/{key_id}',
  tag: 'Users',
  summary: 'Revoke an API key of one of your bots',
  description: 'The key is refused from the next call on, and its streams end. Not with an API key.',
  access: 'session',
  status: 204,
  run: service.revokeKey,
})
