import { defineCommand as defineGroup } from 'citty'
import { OPERATOR } from '../../lib/core/actor.ts'
import type { Chat } from '../../lib/service.ts'
import { commonArgs, defineCommand } from '../args/command.ts'
import { assertCanAsk, confirm, yesArg } from '../args/confirm.ts'
import { named } from '../args/missing.ts'
import { morePagesHint, pageArgs, toPageInput } from '../args/paging.ts'
import { resolveUserId, userArg } from '../args/user.ts'
import { oneLine, print, table } from '../output.ts'
import { roomLines } from '../room-lines.ts'
import { withChat } from '../with-chat.ts'

const idArg = { id: { type: 'string', required: true, description: 'Id from `conversation list`' } } as const

const HEADINGS = ['ID', 'TITLE', 'PEOPLE', 'THREADS', 'MESSAGES', 'LAST ACTIVITY']

const list = defineCommand({
  meta: { name: 'list', description: 'List conversations with their counts, without their messages' },
  example: 'chat-server conversation list',
  args: { user: { ...userArg.user, required: false }, ...pageArgs, ...commonArgs },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const user_id = args.user === undefined ? undefined : await resolveUserId(chat, args.user)
      const page = await chat.conversations.listAll(OPERATOR, { ...toPageInput(args), user_id })
      const rows = page.conversations.map((conversation) => [
        conversation.id,
        conversation.title,
        String(conversation.participant_count),
        String(conversation.threads),
        String(conversation.messages),
        conversation.last_activity_at,
      ])
      print(args, page, table(HEADINGS, rows) + morePagesHint(page))
    }),
})

const show = defineCommand({
  meta: { name: 'show', description: 'Show the counts, the rules and the first 200 participants of a conversation' },
  example: 'chat-server conversation show 01980a3c-7000-7a10-8b20-0c4f1d2e3a43',
  args: { ...idArg, ...commonArgs },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const conversation = await named('conversation', args.id, chat.conversations.describe(OPERATOR, args.id))
      const { title, threads, messages, participant_count, created_at, last_activity_at } = conversation
      const lines = [
        `${title || '(no title)'}: ${participant_count} people, ${threads} threads, ${messages} messages`,
        `created ${created_at}, last activity ${last_activity_at}`,
        ...roomLines(conversation),
      ]
      const rows = conversation.participants.map(({ username, role, user_id }) => [username, role, user_id])
      print(args, conversation, `${lines.map(oneLine).join('\n')}\n\n${table(['USERNAME', 'ROLE', 'ID'], rows)}`)
    }),
})

const remove = defineCommand({
  meta: { name: 'delete', description: 'Delete a conversation with all its messages' },
  example: 'chat-server conversation delete 01980a3c-7000-7a10-8b20-0c4f1d2e3a43 --yes',
  args: { ...idArg, ...yesArg, ...commonArgs },
  run: async ({ args }) => {
    if (!args.yes) assertCanAsk()
    await withChat(args, async (chat) => {
      if (!args.yes) await askFor(chat, args.id)
      await named('conversation', args.id, chat.conversations.removeAny(OPERATOR, args.id))
      const rest =
        'The running service, or the next one to start, removes its messages in the background: that frees space inside the database file, and on the disk that of its files, after attachments.grace_hours.'
      print(args, { conversation_id: args.id }, `The conversation is deleted. ${rest}`)
    })
  },
})

/** @throws UsageError without a terminal; Error for another answer than its title */
async function askFor(chat: Chat, id: string): Promise<void> {
  const conversation = await named('conversation', id, chat.conversations.describe(OPERATOR, id))
  const { title, messages, participant_count } = conversation
  const what = title.trim() === '' ? `its id, ${id}` : `its title, ${title.trim()}`
  const size = `It has ${participant_count} people and ${messages} messages, and this cannot be undone.`
  await confirm(`${size} To delete it, type ${oneLine(what)}: `, title.trim() || id)
}

export default defineGroup({
  meta: { name: 'conversation', description: 'List, show, change, delete and bring back conversations' },
  subCommands: {
    list,
    show,
    set: () => import('./conversation-set.ts').then((module) => module.setConversationCommand),
    export: () => import('./conversation-copies.ts').then((module) => module.exportConversationCommand),
    import: () => import('./conversation-copies.ts').then((module) => module.importConversationCommand),
    delete: remove,
  },
})
