import { defineCommand as defineGroup } from 'citty'
import { OPERATOR, type Role } from '../../lib/context.ts'
import { commonArgs, defineCommand } from '../command.ts'
import { oneLine, print, table } from '../output.ts'
import { passwordArg, readPassword } from '../password.ts'
import { withChat } from '../with-chat.ts'

const create = defineCommand({
  meta: { name: 'create', description: 'Create a user' },
  example: 'chat-server user create --username grace --email grace@example.org --roles member < password.txt',
  args: {
    username: { type: 'string', required: true, description: 'Name others see, unique' },
    email: { type: 'string', required: true, description: 'Address to sign in with, unique' },
    'display-name': { type: 'string', description: 'Name shown instead of the username' },
    roles: { type: 'string', default: 'member', description: 'admin, member, read_only; several with commas' },
    ...passwordArg,
    ...commonArgs,
  },
  run: async ({ args }) => {
    const password = await readPassword(args)
    const roles = args.roles.split(',').map((role) => role.trim()) as Role[]
    const { username, email, 'display-name': display_name } = args
    await withChat(args, async (chat) => {
      const created = await chat.users.create(OPERATOR, { username, email, password, roles, display_name })
      print(args, created, oneLine(`User ${created.user.username} <${created.user.email}> created.`))
    })
  },
})

const list = defineCommand({
  meta: { name: 'list', description: 'List users' },
  example: 'chat-server user list --query gr --json',
  args: {
    query: { type: 'string', description: 'Only names and addresses that begin with it' },
    limit: { type: 'string', description: 'How many to show' },
    after: { type: 'string', description: 'Where the page before ended (next_after)' },
    ...commonArgs,
  },
  run: async ({ args }) => {
    const { query, after } = args
    const limit = args.limit === undefined ? undefined : Number(args.limit)
    await withChat(args, async (chat) => {
      const page = await chat.users.list(OPERATOR, { query, limit, after })
      const rows = page.users.map((user) => [user.username, user.email, user.roles.join(','), user.id])
      const more = page.next_after ? `\n\nMore with --after ${page.next_after}` : ''
      print(args, page, table(['USERNAME', 'EMAIL', 'ROLES', 'ID'], rows) + more)
    })
  },
})

const resetLink = defineCommand({
  meta: { name: 'reset-link', description: 'Make a link that sets a new password once, within an hour' },
  example: 'chat-server user reset-link --email grace@example.org',
  args: {
    email: { type: 'string', required: true, description: 'Address of the user' },
    ...commonArgs,
  },
  run: async ({ args }) => {
    await withChat(args, async (chat) => {
      const link = await chat.resets.issue(OPERATOR, { email: args.email })
      print(args, link, link.url ?? link.token)
    })
  },
})

export default defineGroup({
  meta: { name: 'user', description: 'Create and list users, help them back in' },
  subCommands: { list, create, 'reset-link': resetLink },
})
