import { defineCommand as defineGroup } from 'citty'
import { OPERATOR } from '../../lib/core/actor.ts'
import { commonArgs, defineCommand } from '../args/command.ts'
import { oneLine, print } from '../output.ts'
import { withChat } from '../with-chat.ts'

const status = defineCommand({
  meta: { name: 'status', description: 'Show the state of the search index' },
  example: 'chat-server search status',
  args: commonArgs,
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const status = await chat.search.status(OPERATOR)
      const mib = (status.bytes / 2 ** 20).toFixed(1)
      const reach = status.reaches_back_to ? `, back to ${status.reaches_back_to}` : ''
      const state = status.filling ? 'being filled' : status.enabled ? 'kept' : 'off: search.enabled is false'
      print(
        args,
        status,
        oneLine(
          `The index is ${state}. Messages in it: ${status.documents} (${mib} MiB)${reach}. Changes to bring into it: ${status.waiting}.`,
        ),
      )
    }),
})

const rebuild = defineCommand({
  meta: { name: 'rebuild', description: 'Index all messages anew, beside the running service' },
  example: 'chat-server search rebuild',
  args: {
    ...commonArgs,
    'from-scratch': {
      type: 'boolean',
      description: 'Empty the index first: until it is filled, older messages are not found',
    },
  },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      await chat.search.rebuild(OPERATOR, { from_scratch: args['from-scratch'] === true })
      print(
        args,
        { rebuilding: true },
        oneLine(
          'The running service indexes all messages anew, the newest first; `chat-server search status` shows how far.',
        ),
      )
    }),
})

export default defineGroup({
  meta: { name: 'search', description: 'Show the search index, or build it anew' },
  subCommands: { status, rebuild },
})
