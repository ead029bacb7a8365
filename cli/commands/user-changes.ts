import type { AccountChanges, Erasure } from '../../lib/accounts/users/schema.ts'
import { OPERATOR, type Role } from '../../lib/core/actor.ts'
import { commonArgs, defineCommand, UsageError } from '../args/command.ts'
import { passwordArg, readPassword } from '../args/password.ts'
import { idOf, userArg } from '../args/user.ts'
import { oneLine, print } from '../output.ts'
import { withChat } from '../with-chat.ts'

/** What the commands below share: they change one account and say so. */
function change(
  args: { user: string; json?: boolean; config?: string; database?: string },
  changes: AccountChanges,
  done: string,
): Promise<void> {
  return withChat(args, async (chat) => {
    const changed = await chat.users.change(OPERATOR, await idOf(chat, args.user), changes)
    print(args, changed, oneLine(`User ${changed.user.username} ${done}.`))
  })
}

export const setPassword = defineCommand({
  meta: { name: 'set-password', description: 'Give a user another password; their sessions end' },
  example: 'chat-server user set-password --user grace < password.txt',
  args: { ...userArg, ...passwordArg, ...commonArgs },
  run: async ({ args }) => change(args, { password: await readPassword(args) }, 'has another password'),
})

export const setEmail = defineCommand({
  meta: { name: 'set-email', description: 'Give a user another e-mail address, or mark it as proven' },
  example: 'chat-server user set-email --user grace --email grace@example.org --verified',
  args: {
    ...userArg,
    email: { type: 'string', description: 'Default: the address stays' },
    verified: { type: 'boolean', description: 'It counts as proven; another address does not without it' },
    ...commonArgs,
  },
  run: ({ args }) => {
    const { email, verified } = args
    if (email === undefined && !verified) throw new UsageError('say --email, --verified or both')
    const changes = { ...(email !== undefined && { email }), ...(verified && { email_verified: true }) }
    return change(args, changes, verified ? 'has a proven address' : 'has another address')
  },
})

export const setRoles = defineCommand({
  meta: { name: 'set-roles', description: 'Give a user other roles' },
  example: 'chat-server user set-roles --user grace --roles admin,member',
  args: {
    ...userArg,
    roles: { type: 'string', required: true, description: 'admin, member, read_only; several with commas' },
    ...commonArgs,
  },
  run: ({ args }) => {
    const roles = args.roles.split(',').map((role) => role.trim()) as Role[]
    return change(args, { roles }, `has the roles ${roles.join(', ')}`)
  },
})

export const disable = defineCommand({
  meta: { name: 'disable', description: 'Let a user in no more; their sessions end' },
  example: 'chat-server user disable --user grace',
  args: { ...userArg, ...commonArgs },
  run: ({ args }) => change(args, { disabled: true }, 'is disabled'),
})

export const enable = defineCommand({
  meta: { name: 'enable', description: 'Let a disabled user in again' },
  example: 'chat-server user enable --user grace',
  args: { ...userArg, ...commonArgs },
  run: ({ args }) => change(args, { disabled: false }, 'is enabled'),
})

export const lockdown = defineCommand({
  meta: { name: 'lockdown', description: 'End the sessions, keys, identities and invites of a user' },
  example: 'chat-server user lockdown --user grace',
  args: { ...userArg, ...commonArgs },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const user_id = await idOf(chat, args.user)
      const ended = await chat.users.lockDown(OPERATOR, user_id)
      const { sessions, keys, identities, invites } = ended
      const counts = `${sessions} sessions, ${keys} keys, ${identities} identities and ${invites} invites`
      print(args, { user_id, ...ended }, oneLine(`User ${args.user} is locked down: ${counts} ended.`))
    }),
})

export const erase = defineCommand({
  meta: { name: 'erase', description: 'Erase a person; run again, it finishes what was cut short' },
  example: 'chat-server user erase --user grace --messages erase --yes',
  args: {
    ...userArg,
    messages: {
      type: 'enum',
      options: ['keep', 'erase'],
      default: 'keep',
      description: 'What they wrote stays without an author, or goes',
    },
    yes: { type: 'boolean', description: 'Needed: it cannot be undone' },
    ...commonArgs,
  },
  run: async ({ args }) => {
    if (!args.yes) throw new UsageError('this cannot be undone: say --yes')
    const messages = args.messages as Erasure['messages']
    await withChat(args, async (chat) => {
      const user_id = await idOf(chat, args.user)
      await chat.users.erase(OPERATOR, user_id, { messages })
      const rest = 'What they wrote is out of sight; the running service, or the next to start, goes through it.'
      print(args, { user_id, messages }, `${oneLine(`User ${args.user} is erased.`)} ${rest}`)
    })
  },
})
