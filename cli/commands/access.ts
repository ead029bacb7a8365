import { defineCommand as defineGroup } from 'citty'
import type { ExplainQuery } from '../../lib/chat/access/schema.ts'
import { OPERATOR } from '../../lib/core/actor.ts'
import { commonArgs, defineCommand } from '../args/command.ts'
import { named } from '../args/missing.ts'
import { resolveUserId, userArg } from '../args/user.ts'
import { print } from '../output.ts'
import { withChat } from '../with-chat.ts'

const explain = defineCommand({
  meta: { name: 'explain', description: 'Show whether a user may do something, and if not, why' },
  example: 'chat-server access explain --user hopper --act post --conversation 01980a3c-7000-7a10-8b20-0c4f1d2e3a43',
  args: {
    ...userArg,
    act: {
      type: 'string',
      required: true,
      valueHint: 'right',
      description:
        'A right of the service, such as create_conversations; in a conversation what `can` names, such as post',
    },
    conversation: { type: 'string', valueHint: 'id', description: 'Id of the conversation; left out: in the service' },
    ...commonArgs,
  },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const user_id = await resolveUserId(chat, args.user)
      const query = { user_id, act: args.act as ExplainQuery['act'], conversation_id: args.conversation }
      const explanation = await named('conversation', args.conversation ?? '', chat.access.explain(OPERATOR, query))
      const { allowed, reach, reason, right, message, roles, role } = explanation
      const why = [reason, right && right !== args.act ? `right ${right}` : undefined].filter(
        (part) => part !== undefined,
      )
      const lines = [
        `${args.act}: ${allowed ? 'allowed' : 'refused'}${why.length > 0 ? ` (${why.join(', ')})` : ''}`,
        reach === 'shared' ? `${message} Only towards persons of a common private conversation.` : message,
        `Roles in the service: ${roles.join(', ') || '(none)'}.`,
        ...(args.conversation === undefined ? [] : [`Role in the conversation: ${role ?? '(none)'}.`]),
      ]
      print(args, explanation, lines.join('\n'))
    }),
})

export default defineGroup({
  meta: { name: 'access', description: 'Explain what users may do' },
  subCommands: { explain },
})
