import { defineCommand as defineGroup } from 'citty'
import { OPERATOR } from '../../lib/core/actor.ts'
import type { Chat } from '../../lib/service.ts'
import { commonArgs, defineCommand, UsageError } from '../args/command.ts'
import { named } from '../args/missing.ts'
import { morePagesHint, pageArgs, toPageInput } from '../args/paging.ts'
import { resolveUserId, userArg } from '../args/user.ts'
import { print, table } from '../output.ts'
import { withChat } from '../with-chat.ts'

const user = { ...userArg.user, required: false } as const

const list = defineCommand({
  meta: { name: 'list', description: 'List the active sessions' },
  example: 'chat-server session list grace --json',
  args: { user, ...pageArgs, ...commonArgs },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const user_id = args.user === undefined ? undefined : await resolveUserId(chat, args.user)
      const page = await chat.sessions.list(OPERATOR, { ...toPageInput(args), user_id })
      const rows = page.sessions.map((session) => [
        session.username,
        session.last_seen_at,
        session.ip ?? '',
        session.id,
      ])
      print(args, page, table(['USERNAME', 'LAST SEEN', 'ADDRESS', 'ID'], rows) + morePagesHint(page))
    }),
})

const revoke = defineCommand({
  meta: {
    name: 'revoke',
    description: 'End one session, or all of a user or of everyone, then with their API keys and mailed links',
  },
  example: 'chat-server session revoke grace',
  args: {
    id: { type: 'string', description: 'The session with this id' },
    user,
    all: { type: 'boolean', description: 'All sessions of all users' },
    ...commonArgs,
  },
  run: ({ args }) => {
    const { id, user, all } = args
    if ([id, user, all || undefined].filter((flag) => flag !== undefined).length !== 1) {
      throw new UsageError('use exactly one of --id, --user and --all')
    }
    return withChat(args, async (chat) => {
      const done = await named('session', id ?? '', chat.sessions.revoke(OPERATOR, await selectionOf(chat, id, user)))
      print(args, done, `Sessions ended: ${done.revoked}.`)
    })
  },
})

async function selectionOf(chat: Chat, id: string | undefined, user: string | undefined) {
  if (id !== undefined) return { session_id: id }
  return user === undefined ? { all: true as const } : { user_id: await resolveUserId(chat, user) }
}

export default defineGroup({
  meta: { name: 'session', description: 'List and end sessions' },
  subCommands: { list, revoke },
})
