import { defineCommand as defineGroup } from 'citty'
import type { AuditAct, NamedAuditRecord } from '../../lib/accounts/audit/schema.ts'
import { OPERATOR } from '../../lib/core/actor.ts'
import { commonArgs, defineCommand } from '../args/command.ts'
import { instantOf } from '../args/instant.ts'
import { morePagesHint, pageArgs, toPageInput } from '../args/paging.ts'
import { findUsernames, resolveFormerUserId, userArg } from '../args/user.ts'
import { print, table } from '../output.ts'
import { withChat } from '../with-chat.ts'

const list = defineCommand({
  meta: { name: 'list', description: 'List recorded actions, newest first' },
  example: 'chat-server audit list --subject grace --since 2026-11-20 --json',
  args: {
    act: { type: 'string', description: 'Only this action' },
    user: { ...userArg.user, required: false, description: 'Username, email address or id, also of an erased user' },
    subject: {
      type: 'string',
      valueHint: 'name',
      description: 'About this user (username, email address, id), or the id of anything else',
    },
    conversation: { type: 'string', valueHint: 'id', description: 'In this conversation, also a deleted one' },
    since: { type: 'string', description: 'From this day (UTC) or instant on: 2026-11-20, 2026-11-20T09:30:00Z' },
    until: { type: 'string', description: 'Before this day (UTC) or instant' },
    ...pageArgs,
    ...commonArgs,
  },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const user_id = args.user === undefined ? undefined : await resolveFormerUserId(chat, args.user)
      const filter = {
        act: args.act as AuditAct | undefined,
        user_id,
        subject_id: args.subject === undefined ? undefined : await resolveFormerUserId(chat, args.subject),
        conversation_id: args.conversation,
        since: instantOf('since', args.since),
        until: instantOf('until', args.until),
      }
      const page = await chat.audit.listNamed(OPERATOR, { ...toPageInput(args), ...filter })
      const names = await findUsernames(
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
        detailOf(entry),
      ])
      const entries = page.entries.map(({ actor_id, subject_id, ...entry }) => ({
        ...entry,
        ...(actor_id && { actor_id, ...named('actor_name', names.get(actor_id)) }),
        ...(subject_id && { subject_id, ...named('subject_name', names.get(subject_id)) }),
      }))
      print(
        args,
        { ...page, entries },
        table(['AT', 'ACT', 'BY', 'TO', 'ADDRESS', 'DETAIL'], rows) + morePagesHint(page),
      )
    }),
})

/** What else an entry has, as JSON. */
function detailOf({ subject_id, conversation_id, detail, names }: NamedAuditRecord): string {
  const place = conversation_id !== undefined && conversation_id !== subject_id && { conversation_id }
  const fields = { ...place, ...detail, ...names }
  return Object.keys(fields).length > 0 ? JSON.stringify(fields) : ''
}

function named(field: string, name: string | undefined): Record<string, string> {
  return name === undefined ? {} : { [field]: name }
}

export default defineGroup({
  meta: { name: 'audit', description: 'Show the audit log' },
  subCommands: { list },
})
