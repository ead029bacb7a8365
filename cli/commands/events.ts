import { defineCommand as defineGroup } from 'citty'
import { commonArgs, defineCommand } from '../command.ts'
import { print, table } from '../output.ts'
import { withChat } from '../with-chat.ts'

const prune = defineCommand({
  meta: { name: 'prune', description: 'Delete events, and whatever else is kept for a time only, that are past it' },
  example: 'chat-server events prune --json',
  args: commonArgs,
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const pruned = await chat.ops.prune()
      const rows = Object.entries(pruned).map(([kind, count]) => [kind, String(count)])
      print(args, pruned, table(['KIND', 'DELETED'], rows))
    }),
})

export default defineGroup({
  meta: { name: 'events', description: 'Look after the log of events' },
  subCommands: { prune },
})
