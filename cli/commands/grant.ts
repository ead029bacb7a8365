import { defineCommand as defineGroup } from 'citty'
import { OPERATOR } from '../../lib/core/actor.ts'
import { commonArgs, defineCommand } from '../args/command.ts'
import { morePagesHint, pageArgs, toPageInput } from '../args/paging.ts'
import { findUsernames, resolveUserId, userArg } from '../args/user.ts'
import { print, table } from '../output.ts'
import { withChat } from '../with-chat.ts'

const list = defineCommand({
  meta: { name: 'list', description: 'List the applications that users have connected, newest first' },
  example: 'chat-server grant list ada --json',
  args: { user: { ...userArg.user, required: false }, ...pageArgs, ...commonArgs },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const user_id = args.user === undefined ? undefined : await resolveUserId(chat, args.user)
      const page = await chat.grants.listAll(OPERATOR, { ...toPageInput(args), user_id })
      const names = await findUsernames(
        chat,
        page.grants.map((grant) => grant.user_id),
      )
      const rows = page.grants.map((grant) => [
        grant.id,
        names.get(grant.user_id) ?? grant.user_id,
        grant.client_name,
        grant.client_host,
        grant.scopes.join(' '),
        grant.created_at,
        grant.last_used_at ?? 'never',
        grant.expires_at,
      ])
      const columns = ['ID', 'USERNAME', 'APPLICATION', 'HOST', 'SCOPES', 'CREATED', 'LAST USED', 'EXPIRES']
      print(args, page, table(columns, rows) + morePagesHint(page))
    }),
})

const revoke = defineCommand({
  meta: { name: 'revoke', description: 'Disconnect an application from any user' },
  example: 'chat-server grant revoke 01980a3c-7000-7a10-8b20-0c4f1d2e3a46',
  args: { id: { type: 'string', required: true, description: 'Id from `grant list`' }, ...commonArgs },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      await chat.grants.revokeAny(OPERATOR, args.id)
      print(args, { grant_id: args.id }, `Disconnected: no connection has the id ${args.id} any more.`)
    }),
})

export default defineGroup({
  meta: { name: 'grant', description: 'List and disconnect the applications of users' },
  subCommands: { list, revoke },
})
