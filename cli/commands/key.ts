import { defineCommand as defineGroup } from 'citty'
import { OPERATOR } from '../../lib/core/actor.ts'
import { commonArgs, defineCommand } from '../args/command.ts'
import { morePagesHint, pageArgs, toPageInput } from '../args/paging.ts'
import { findUsernames, resolveUserId, userArg } from '../args/user.ts'
import { print, table } from '../output.ts'
import { withChat } from '../with-chat.ts'

const list = defineCommand({
  meta: { name: 'list', description: 'List API keys, newest first' },
  example: 'chat-server key list ada --json',
  args: { user: { ...userArg.user, required: false }, ...pageArgs, ...commonArgs },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const user_id = args.user === undefined ? undefined : await resolveUserId(chat, args.user)
      const page = await chat.keys.listAll(OPERATOR, { ...toPageInput(args), user_id })
      const names = await findUsernames(
        chat,
        page.keys.map((key) => key.user_id),
      )
      const rows = page.keys.map((key) => [
        key.id,
        names.get(key.user_id) ?? key.user_id,
        key.name,
        key.created_at,
        key.last_used_at ?? 'never',
        key.expires_at ?? 'never',
      ])
      print(
        args,
        page,
        table(['ID', 'USERNAME', 'NAME', 'CREATED', 'LAST USED', 'EXPIRES'], rows) + morePagesHint(page),
      )
    }),
})

const revoke = defineCommand({
  meta: { name: 'revoke', description: 'Revoke an API key of any user' },
  example: 'chat-server key revoke 01980a3c-7000-7a10-8b20-0c4f1d2e3a46',
  args: { id: { type: 'string', required: true, description: 'Id from `key list`' }, ...commonArgs },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      await chat.keys.revokeAny(OPERATOR, args.id)
      print(args, { key_id: args.id }, `Revoked: no key has the id ${args.id} any more.`)
    }),
})

export default defineGroup({
  meta: { name: 'key', description: 'List and revoke API keys' },
  subCommands: { list, revoke },
})
