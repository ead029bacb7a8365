import { defineCommand as defineGroup } from 'citty'
import type { ParticipantRole } from '../../lib/chat/conversations/schema.ts'
import { OPERATOR } from '../../lib/core/actor.ts'
import { commonArgs, defineCommand } from '../args/command.ts'
import { named } from '../args/missing.ts'
import { parseNumber } from '../args/number.ts'
import { morePagesHint, pageArgs, toPageInput } from '../args/paging.ts'
import { print, table } from '../output.ts'
import { withChat } from '../with-chat.ts'

const conversationArg = {
  conversation: { type: 'string', required: true, valueHint: 'id', description: 'Id of the conversation' },
} as const

const create = defineCommand({
  meta: { name: 'create', description: 'Create an invite to a conversation; its token is shown once' },
  example: 'chat-server invite create 01980a3c-7000-7a10-8b20-0c4f1d2e3a43 --role viewer',
  args: {
    ...conversationArg,
    email: { type: 'string', description: 'Only the user with this address may accept' },
    mail: { type: 'boolean', description: 'Mail the token to that address, and do not print it' },
    role: {
      type: 'string',
      default: 'member',
      description: 'owner, admin, moderator, member, viewer, or a role of access.participant_roles',
    },
    'ttl-seconds': { type: 'string', description: 'Validity in seconds; default: one day' },
    'max-uses': { type: 'string', description: 'Maximum number of uses; default: 1' },
    ...commonArgs,
  },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const created = await named(
        'conversation',
        args.conversation,
        chat.invites.create(OPERATOR, args.conversation, {
          email: args.email,
          mail: args.mail === true,
          role: args.role as ParticipantRole,
          ttl_seconds: parseNumber('ttl-seconds', args['ttl-seconds']),
          max_uses: parseNumber('max-uses', args['max-uses']),
        }),
      )
      const { token, expires_at } = created
      const text = `Valid until ${expires_at}.`
      print(args, created, token === undefined ? `Mailed. ${text}` : `${token}\n\n${text} It is not shown again.`)
    }),
})

const list = defineCommand({
  meta: { name: 'list', description: 'List the invites to a conversation that can still be accepted' },
  example: 'chat-server invite list 01980a3c-7000-7a10-8b20-0c4f1d2e3a43',
  args: { ...conversationArg, ...pageArgs, ...commonArgs },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const found = await named(
        'conversation',
        args.conversation,
        chat.invites.list(OPERATOR, args.conversation, toPageInput(args)),
      )
      const rows = found.invites.map((invite) => [
        invite.id,
        invite.role,
        `${invite.uses} of ${invite.max_uses}`,
        invite.expires_at,
        invite.email ?? '',
      ])
      print(args, found, table(['ID', 'ROLE', 'USED', 'VALID UNTIL', 'EMAIL'], rows) + morePagesHint(found))
    }),
})

const revoke = defineCommand({
  meta: { name: 'revoke', description: 'Revoke an invite' },
  example: 'chat-server invite revoke 01980a3c-7000-7a10-8b20-0c4f1d2e3a44',
  args: { id: { type: 'string', required: true, description: 'Id from `invite list`' }, ...commonArgs },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      await named('invite', args.id, chat.invites.revokeById(OPERATOR, args.id))
      print(args, { invite_id: args.id }, 'The invite is revoked.')
    }),
})

export default defineGroup({
  meta: { name: 'invite', description: 'Create, list and revoke invites to a conversation' },
  subCommands: { create, list, revoke },
})
