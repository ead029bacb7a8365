import { defineCommand as defineGroup } from 'citty'
import type { ServerKeyScope } from '../../lib/accounts/server-keys/schema.ts'
import { OPERATOR } from '../../lib/core/actor.ts'
import { commonArgs, defineCommand } from '../args/command.ts'
import { instantOf } from '../args/instant.ts'
import { print, printNote, table } from '../output.ts'
import { withChat } from '../with-chat.ts'

const create = defineCommand({
  meta: { name: 'create', description: 'Create a key for a server of your application' },
  example: 'chat-server server-key create --name shop --scopes act_as,system,users --json',
  args: {
    name: { type: 'string', required: true, description: 'What the key is for' },
    scopes: { type: 'string', required: true, description: 'act_as, system, users; separated by commas' },
    expires: { type: 'string', description: 'Until this day (UTC) or instant: 2027-06-30, 2027-06-30T12:00:00Z' },
    ...commonArgs,
  },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const scopes = args.scopes.split(',').map((scope) => scope.trim()) as ServerKeyScope[]
      const expires_at = instantOf('expires', args.expires)
      const created = await chat.serverKeys.create(OPERATOR, { name: args.name, scopes, expires_at })
      if (!args.json) printNote('The key is shown only once.')
      print(args, created, created.key)
    }),
})

const list = defineCommand({
  meta: { name: 'list', description: 'List server keys, newest first' },
  example: 'chat-server server-key list --json',
  args: commonArgs,
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const answer = await chat.serverKeys.list(OPERATOR)
      const rows = answer.keys.map((key) => [
        key.id,
        key.name,
        key.scopes.join(','),
        key.created_at,
        key.last_used_at ?? 'never',
        key.expires_at ?? 'never',
      ])
      print(args, answer, table(['ID', 'NAME', 'SCOPES', 'CREATED', 'LAST USED', 'EXPIRES'], rows))
    }),
})

const revoke = defineCommand({
  meta: { name: 'revoke', description: 'Revoke a server key' },
  example: 'chat-server server-key revoke 01980a3c-7000-7a10-8b20-0c4f1d2e3a47',
  args: { id: { type: 'string', required: true, description: 'Id from `server-key list`' }, ...commonArgs },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      await chat.serverKeys.revoke(OPERATOR, args.id)
      print(args, { key_id: args.id }, `Revoked: no server key has the id ${args.id} any more.`)
    }),
})

export default defineGroup({
  meta: { name: 'server-key', description: 'Create, list and revoke keys of your servers' },
  subCommands: { create, list, revoke },
})
