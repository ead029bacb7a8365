import type { Account, AccountChanges, Erasure } from '../../lib/accounts/users/schema.ts'
import { OPERATOR, type Role } from '../../lib/core/actor.ts'
import { commonArgs, defineCommand, UsageError } from '../args/command.ts'
import { passwordArg, readPassword } from '../args/password.ts'
import { resolveFormerUserId, resolveUserId, userArg } from '../args/user.ts'
import { oneLine, print, table } from '../output.ts'
import { withChat } from '../with-chat.ts'

/** The address of a user, who has none as a guest. */
export function describeAddress({ email, email_verified }: Pick<Account, 'email' | 'email_verified'>): string {
  if (email === undefined) return 'none'
  return email + (email_verified ? '' : ' (unverified)')
}

/** Changes one account and prints the result; shared by the commands below. */
function change(
  args: { user: string; json?: boolean; config?: string; database?: string },
  changes: AccountChanges,
  done: string,
): Promise<void> {
  return withChat(args, async (chat) => {
    const changed = await chat.users.change(OPERATOR, await resolveUserId(chat, args.user), changes)
    print(args, changed, oneLine(`User ${changed.user.username} ${done}.`))
  })
}

export const setPassword = defineCommand({
  meta: { name: 'set-password', description: 'Set the password of a user; ends their sessions' },
  example: 'chat-server user set-password grace < password.txt',
  args: { ...userArg, ...passwordArg, ...commonArgs },
  run: async ({ args }) => change(args, { password: await readPassword(args) }, 'has a new password'),
})

export const setEmail = defineCommand({
  meta: { name: 'set-email', description: 'Set the email address of a user, or mark it as verified' },
  example: 'chat-server user set-email grace --email grace@example.org --verified',
  args: {
    ...userArg,
    email: { type: 'string', description: 'New address; default: unchanged' },
    verified: { type: 'boolean', description: 'Mark the address as verified; a new address is unverified without it' },
    ...commonArgs,
  },
  run: ({ args }) => {
    const { email, verified } = args
    if (email === undefined && !verified) throw new UsageError('use --email, --verified or both')
    const changes = { ...(email !== undefined && { email }), ...(verified && { email_verified: true }) }
    return change(args, changes, verified ? 'has a verified address' : 'has a new address')
  },
})

export const setUsername = defineCommand({
  meta: { name: 'set-username', description: 'Set the username of a user' },
  example: 'chat-server user set-username grace --username Grace',
  args: {
    ...userArg,
    username: { type: 'string', required: true, description: 'New unique name that others see' },
    ...commonArgs,
  },
  run: ({ args }) => change(args, { username: args.username }, 'has this username now'),
})

export const show = defineCommand({
  meta: { name: 'show', description: 'Show a user, with the numbers of their sessions, keys and conversations' },
  example: 'chat-server user show grace',
  args: { ...userArg, ...commonArgs },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const facts = await chat.users.describe(OPERATOR, await resolveUserId(chat, args.user))
      const { user, has_password, locked_until, last_seen_at, sessions, keys, identities, conversations } = facts
      const rows = [
        ['Username', user.username],
        ['Display name', user.display_name ?? ''],
        ['Email', describeAddress(user)],
        ['Roles', user.roles.join(',')],
        ['Id', user.id],
        ...(user.subject === undefined ? [] : [['Subject', user.subject]]),
        ['Created', user.created_at],
        ['Disabled', user.disabled_at ?? 'no'],
        ['Locked', locked_until ? `until ${locked_until}: "chat-server user unlock"` : 'no'],
        ['Password', has_password ? 'yes' : 'none'],
        ['Last seen', last_seen_at ?? ''],
        ...Object.entries({ sessions, keys, identities, conversations }).map(([name, count]) => [name, String(count)]),
      ]
      print(args, facts, table(['FIELD', 'VALUE'], rows))
    }),
})

export const unlock = defineCommand({
  meta: { name: 'unlock', description: 'Forget the failed sign-ins of a user, who may sign in again at once' },
  example: 'chat-server user unlock grace',
  args: { ...userArg, ...commonArgs },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const user_id = await resolveUserId(chat, args.user)
      await chat.users.unlock(OPERATOR, user_id)
      print(args, { user_id }, oneLine(`User ${args.user} may sign in again.`))
    }),
})

export const setRoles = defineCommand({
  meta: { name: 'set-roles', description: 'Set the roles of a user' },
  example: 'chat-server user set-roles grace --roles admin,member',
  args: {
    ...userArg,
    roles: {
      type: 'string',
      required: true,
      description: 'admin, member, read_only, or roles of access.roles; separated by commas',
    },
    ...commonArgs,
  },
  run: ({ args }) => {
    const roles = args.roles.split(',').map((role) => role.trim()) as Role[]
    return change(args, { roles }, `has the roles ${roles.join(', ')}`)
  },
})

export const disable = defineCommand({
  meta: { name: 'disable', description: 'Disable a user; ends their sessions' },
  example: 'chat-server user disable grace',
  args: { ...userArg, ...commonArgs },
  run: ({ args }) => change(args, { disabled: true }, 'is disabled'),
})

export const enable = defineCommand({
  meta: { name: 'enable', description: 'Enable a disabled user' },
  example: 'chat-server user enable grace',
  args: { ...userArg, ...commonArgs },
  run: ({ args }) => change(args, { disabled: false }, 'is enabled'),
})

export const lockdown = defineCommand({
  meta: { name: 'lockdown', description: 'Revoke the sessions, keys, identities and invites of a user' },
  example: 'chat-server user lockdown grace',
  args: { ...userArg, ...commonArgs },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const user_id = await resolveUserId(chat, args.user)
      const ended = await chat.users.lockDown(OPERATOR, user_id)
      const { sessions, keys, identities, invites } = ended
      const counts = `${sessions} sessions, ${keys} keys, ${identities} identities and ${invites} invites`
      print(args, { user_id, ...ended }, oneLine(`User ${args.user} is locked down: ${counts} ended.`))
    }),
})

export const erase = defineCommand({
  meta: { name: 'erase', description: 'Erase a user; run it again after an interruption' },
  example: 'chat-server user erase grace --messages erase --yes',
  args: {
    ...userArg,
    messages: {
      type: 'enum',
      options: ['keep', 'erase'],
      default: 'keep',
      description: 'Keep their messages without an author, or erase them',
    },
    yes: { type: 'boolean', description: 'Required, because it cannot be undone' },
    ...commonArgs,
  },
  run: async ({ args }) => {
    if (!args.yes) throw new UsageError('this cannot be undone: add --yes')
    const messages = args.messages as Erasure['messages']
    await withChat(args, async (chat) => {
      const user_id = await resolveUserId(chat, args.user)
      await chat.users.erase(OPERATOR, user_id, { messages })
      const rest =
        'Their messages are hidden; the running service, or the next one to start, processes them in the background: that frees space inside the database file, and none on the disk but that of erased files.'
      print(args, { user_id, messages }, `${oneLine(`User ${args.user} is erased.`)} ${rest}`)
    })
  },
})

export const merge = defineCommand({
  meta: { name: 'merge', description: 'Make one user of two: everything of the one becomes that of the other' },
  example: 'chat-server user merge --from hopper --into grace --yes',
  args: {
    from: { type: 'string', required: true, description: 'Username, email address or id of the user who ends' },
    into: { type: 'string', required: true, description: 'Username, email address or id of the user who stays' },
    yes: { type: 'boolean', description: 'Required, because it cannot be undone' },
    ...commonArgs,
  },
  run: async ({ args }) => {
    if (!args.yes) throw new UsageError('this cannot be undone: add --yes')
    await withChat(args, async (chat) => {
      const into = await resolveUserId(chat, args.into)
      // A user who is merged already has only an id.
      const from = await resolveFormerUserId(chat, args.from)
      const merged = await chat.users.merge(OPERATOR, { from: { user_id: from }, into: { user_id: into } })
      const { user, moved } = merged
      const counts = `${moved.messages} messages and ${moved.conversations} conversations`
      print(args, merged, oneLine(`User ${args.from} is ${user.username} now, with ${counts} moved.`))
    })
  },
})
