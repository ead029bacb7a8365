import { defineCommand as defineGroup } from 'citty'
import type { AuditAct } from '../../lib/accounts/audit/schema.ts'
import { OPERATOR } from '../../lib/core/actor.ts'
import { commonArgs, defineCommand } from '../args/command.ts'
import { moreOf, pageArgs, pageOf } from '../args/paging.ts'
import { formerUserIdOf, userArg, usernamesOf } from '../args/user.ts'
import { print, table } from '../output.ts'
import { withChat } from '../with-chat.ts'

const list = defineCommand({
  meta: { name: 'list', description: 'List recorded actions, newest first' },
  example: 'chat-server audit list --act user.disabled --json',
  args: {
    act: { type: 'string', description: 'Only this action' },
    user: { ...userArg.user, required: false, description: 'Username, email address or id, also of an erased user' },
    ...pageArgs,
    ...commonArgs,
  },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const user_id = args.user === undefined ? undefined : await formerUserIdOf(chat, args.user)
      const act = args.act as AuditAct | undefined
      const page = await chat.audit.list(OPERATOR, { ...pageOf(args), act, user_id })
      const names = await usernamesOf(
        chat,
        page.entries.flatMap(({ actor_id, subject_id }) => [actor_id, subject_id]),
      )
      const nameOf = (id: string | undefined) => (id && names.get(id)) ?? id ?? ''
      const rows = page.entries.map((entry) => [
        entry.at,
        entry.act,
        nameOf(entry.actor_id) || String(entry.detail?.operator ?? ''),
        nameOf(entry.subject_id),
        entry.ip ?? '',
        entry.detail ? JSON.stringify(entry.detail) : '',
      ])
      const entries = page.entries.map(({ actor_id, subject_id, ...entry }) => ({
        ...entry,
        ...(actor_id && { actor_id, ...named('actor_name', names.get(actor_id)) }),
        ...(subject_id && { subject_id, ...named('subject_name', names.get(subject_id)) }),
      }))
      print(args, { ...page, entries }, table(['AT', 'ACT', 'BY', 'TO', 'ADDRESS', 'DETAIL'], rows) + moreOf(page))
    }),
})

function named(field: string, name: string | undefined): Record<string, string> {
  return name === undefined ? {} : { [field]: name }
}

export default defineGroup({
  meta: { name: 'audit', description: 'Show the audit log' },
  subCommands: { list },
})
