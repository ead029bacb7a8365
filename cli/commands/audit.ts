import { defineCommand as defineGroup } from 'citty'
import type { AuditAct } from '../../lib/accounts/audit/schema.ts'
import { OPERATOR } from '../../lib/core/actor.ts'
import { commonArgs, defineCommand } from '../args/command.ts'
import { moreOf, pageArgs, pageOf } from '../args/paging.ts'
import { userArg, userIdOf } from '../args/user.ts'
import { print, table } from '../output.ts'
import { withChat } from '../with-chat.ts'

const list = defineCommand({
  meta: { name: 'list', description: 'List recorded actions, newest first' },
  example: 'chat-server audit list --act user.disabled --json',
  args: {
    act: { type: 'string', description: 'Only this action' },
    user: { ...userArg.user, required: false },
    ...pageArgs,
    ...commonArgs,
  },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const user_id = args.user === undefined ? undefined : await userIdOf(chat, args.user)
      const act = args.act as AuditAct | undefined
      const page = await chat.audit.list(OPERATOR, { ...pageOf(args), act, user_id })
      const rows = page.entries.map((entry) => [
        entry.at,
        entry.act,
        entry.actor_id ?? '',
        entry.subject_id ?? '',
        entry.ip ?? '',
        entry.detail ? JSON.stringify(entry.detail) : '',
      ])
      print(args, page, table(['AT', 'ACT', 'BY', 'TO', 'ADDRESS', 'DETAIL'], rows) + moreOf(page))
    }),
})

export default defineGroup({
  meta: { name: 'audit', description: 'Show the audit log' },
  subCommands: { list },
})
