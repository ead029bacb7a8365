import { defineCommand as defineGroup } from 'citty'
import type { Account } from '../../lib/accounts/users/schema.ts'
import { OPERATOR, type Role } from '../../lib/core/actor.ts'
import { commonArgs, defineCommand, UsageError } from '../args/command.ts'
import { morePagesHint, pageArgs, toPageInput } from '../args/paging.ts'
import { passwordArg, readPassword } from '../args/password.ts'
import { resolveUserId, userArg } from '../args/user.ts'
import { oneLine, print, table } from '../output.ts'
import { withChat } from '../with-chat.ts'
import {
  describeAddress,
  disable,
  enable,
  erase,
  lockdown,
  merge,
  setEmail,
  setPassword,
  setRoles,
  setUsername,
  show,
  unlock,
} from './user-changes.ts'
import exportOfUser from './user-export.ts'
import importUsers from './user-import.ts'
import { invite, invites, revokeInvite } from './user-invites.ts'

const create = defineCommand({
  meta: { name: 'create', description: 'Create a user' },
  example: 'chat-server user create grace --email grace@example.org --roles member < password.txt',
  args: {
    username: { type: 'string', required: true, description: 'Unique name that others see' },
    email: { type: 'string', required: true, description: 'Unique email address to sign in with' },
    'display-name': { type: 'string', description: 'Name shown instead of the username' },
    roles: {
      type: 'string',
      default: 'member',
      description: 'admin, member, read_only, or roles of access.roles; separated by commas',
    },
    ...passwordArg,
    ...commonArgs,
  },
  run: async ({ args }) => {
    const password = await readPassword(args)
    const roles = args.roles.split(',').map((role) => role.trim()) as Role[]
    const { username, email, 'display-name': display_name } = args
    await withChat(args, async (chat) => {
      const created = await chat.users.create(OPERATOR, { username, email, password, roles, display_name })
      print(args, created, oneLine(`User ${created.user.username} <${email}> created.`))
    })
  },
})

const list = defineCommand({
  meta: { name: 'list', description: 'List users' },
  example: 'chat-server user list --query gr --json',
  args: {
    query: { type: 'string', description: 'Only names and email addresses with this prefix' },
    subject: { type: 'string', description: "Only the user with this id of the application's own" },
    ...pageArgs,
    ...commonArgs,
  },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const page = await chat.users.list(OPERATOR, { ...toPageInput(args), query: args.query, subject: args.subject })
      const rows = page.users.map((user) => [user.username, describeAddress(user), describeRoles(user), user.id])
      print(args, page, table(['USERNAME', 'EMAIL', 'ROLES', 'ID'], rows) + morePagesHint(page))
    }),
})

function describeRoles({ roles, disabled_at }: Account): string {
  return roles.join(',') + (disabled_at ? ' (disabled)' : '')
}

const resetLink = defineCommand({
  meta: { name: 'reset-link', description: 'Create a link that sets a new password once, within an hour' },
  example: 'chat-server user reset-link grace',
  args: {
    user: { ...userArg.user, required: false },
    email: { type: 'string', description: 'Email address of the user, instead of --user' },
    ...commonArgs,
  },
  run: ({ args }) => {
    const { user, email } = args
    if ((user === undefined) === (email === undefined)) throw new UsageError('use one of --user and --email')
    return withChat(args, async (chat) => {
      const link =
        user === undefined
          ? await chat.resets.issue(OPERATOR, { email: email! })
          : await chat.users.issueReset(OPERATOR, await resolveUserId(chat, user))
      print(args, link, link.url ?? link.token)
    })
  },
})

export default defineGroup({
  meta: { name: 'user', description: 'Create, invite, list, change, merge and erase users; reset passwords' },
  subCommands: {
    list,
    show,
    create,
    import: importUsers,
    export: exportOfUser,
    'set-password': setPassword,
    'set-email': setEmail,
    'set-username': setUsername,
    'set-roles': setRoles,
    'reset-link': resetLink,
    disable,
    enable,
    unlock,
    lockdown,
    erase,
    merge,
    invite,
    invites,
    'revoke-invite': revokeInvite,
  },
})
