import { OPERATOR, type Role } from '../../lib/core/actor.ts'
import { commonArgs, defineCommand, UsageError } from '../args/command.ts'
import { named } from '../args/missing.ts'
import { parseNumber } from '../args/number.ts'
import { morePagesHint, pageArgs, toPageInput } from '../args/paging.ts'
import { oneLine, print, table } from '../output.ts'
import { withChat } from '../with-chat.ts'

export const invite = defineCommand({
  meta: { name: 'invite', description: 'Mail a newcomer a link to sign up with, once' },
  example: 'chat-server user invite linus@example.org --link',
  args: {
    email: { type: 'positional', required: true, valueHint: 'address', description: 'Address of the newcomer' },
    roles: {
      type: 'string',
      default: 'member',
      description: 'admin, member, read_only, or roles of access.roles; separated by commas',
    },
    'ttl-seconds': { type: 'string', description: 'Validity in seconds; default: a week' },
    conversations: { type: 'string', description: 'Ids of conversations to join, separated by commas' },
    link: { type: 'boolean', description: 'Print the link instead of mailing it' },
    ...commonArgs,
  },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      if (!args.link && !(await chat.capabilities.get()).mail)
        throw new UsageError('the service sends no mail: --link prints the link instead')
      const roles = args.roles.split(',').map((role) => role.trim()) as Role[]
      const ttl_seconds = parseNumber('ttl-seconds', args['ttl-seconds'])
      const conversation_ids = args.conversations?.split(',').map((id) => id.trim())
      const invited = await chat.newcomers.invite(OPERATOR, {
        email: args.email,
        roles,
        ttl_seconds,
        mail: !args.link,
        conversation_ids,
      })
      const { email, expires_at, url, token } = invited
      const text = token
        ? `${url ?? token}\n\nValid until ${expires_at}. It is not shown again.`
        : oneLine(`The running service mails ${email} a link, valid until ${expires_at}.`)
      print(args, invited, text)
    }),
})

export const invites = defineCommand({
  meta: { name: 'invites', description: 'List the newcomers who have been invited and not signed up' },
  example: 'chat-server user invites',
  args: { ...pageArgs, ...commonArgs },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const page = await chat.newcomers.list(OPERATOR, toPageInput(args))
      const rows = page.invites.map((invite) => [invite.email, invite.roles.join(','), invite.expires_at, invite.id])
      print(args, page, table(['EMAIL', 'ROLES', 'VALID UNTIL', 'ID'], rows) + morePagesHint(page))
    }),
})

export const revokeInvite = defineCommand({
  meta: { name: 'revoke-invite', description: 'Revoke the invite of a newcomer' },
  example: 'chat-server user revoke-invite 01980a3c-7000-7a10-8b20-0c4f1d2e3a45',
  args: { id: { type: 'string', required: true, description: 'Id from `user invites`' }, ...commonArgs },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      await named('invite', args.id, chat.newcomers.revoke(OPERATOR, args.id))
      print(args, { id: args.id }, 'The invite is revoked.')
    }),
})
