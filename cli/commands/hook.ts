import { defineCommand as defineGroup } from 'citty'
import { OPERATOR } from '../../lib/core/actor.ts'
import { commonArgs, defineCommand } from '../args/command.ts'
import { named } from '../args/missing.ts'
import { print, printNote, table } from '../output.ts'
import { withChat } from '../with-chat.ts'

const conversationArg = {
  conversation: { type: 'string', required: true, valueHint: 'id', description: 'Id of the conversation' },
} as const

const create = defineCommand({
  meta: { name: 'create', description: 'Make an address at which a tool posts into a conversation' },
  example: 'chat-server hook create --conversation 01980a3c-7000-7a10-8b20-0c4f1d2e3a43 --name Alerts --json',
  args: {
    ...conversationArg,
    name: { type: 'string', required: true, description: 'The name under which it posts' },
    root: { type: 'string', valueHint: 'id', description: 'Id of the thread in which it replies' },
    ...commonArgs,
  },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const input = { name: args.name, ...(args.root !== undefined && { root_id: args.root }) }
      const place = args.root === undefined ? 'conversation' : `thread ${args.root} in a conversation`
      const created = await named(place, args.conversation, chat.hooks.create(OPERATOR, args.conversation, input))
      if (!args.json) printNote('The address is shown only once: whoever has it can post.')
      print(args, created, created.url)
    }),
})

const list = defineCommand({
  meta: { name: 'list', description: 'List the incoming hooks of a conversation, oldest first' },
  example: 'chat-server hook list --conversation 01980a3c-7000-7a10-8b20-0c4f1d2e3a43 --json',
  args: { ...conversationArg, ...commonArgs },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const answer = await named('conversation', args.conversation, chat.hooks.list(OPERATOR, args.conversation))
      const rows = answer.hooks.map(({ id, name, created_at, root_id = '' }) => [id, name, created_at, root_id])
      print(args, answer, table(['ID', 'NAME', 'CREATED', 'THREAD'], rows))
    }),
})

const remove = defineCommand({
  meta: { name: 'delete', description: 'Delete an incoming hook; its messages stay' },
  example:
    'chat-server hook delete 01980a3c-7000-7a10-8b20-0c4f1d2e3a49 --conversation 01980a3c-7000-7a10-8b20-0c4f1d2e3a43 --json',
  args: {
    id: { type: 'string', required: true, description: 'Id from `hook list`' },
    ...conversationArg,
    ...commonArgs,
  },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      await named('conversation', args.conversation, chat.hooks.remove(OPERATOR, args.conversation, args.id))
      print(args, { hook_id: args.id }, `Deleted: no hook has the id ${args.id} any more.`)
    }),
})

export default defineGroup({
  meta: { name: 'hook', description: 'Make, list and delete incoming hooks, at which tools post' },
  subCommands: { create, list, delete: remove },
})
