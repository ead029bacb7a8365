import { defineCommand as defineGroup } from 'citty'
import { assertMigratable } from '../../lib/storage/schema/migrate.ts'
import { commonArgs, defineCommand } from '../args/command.ts'
import { print, table } from '../output.ts'
import { withChat, withStorage } from '../with-chat.ts'

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

const renewEpoch = defineCommand({
  meta: {
    name: 'renew-epoch',
    description: 'Have every reader read again, after pg_restore or the like, while no service runs',
  },
  example: 'chat-server events renew-epoch --database postgres://chat@localhost/chat',
  args: commonArgs,
  run: ({ args }) =>
    withStorage(args, async (storage) => {
      await assertMigratable(storage.db)
      await storage.renewEpoch()
      print(args, { renewed: true }, 'Ids of events from before are of no use any more: every reader will read again.')
    }),
})

export default defineGroup({
  meta: { name: 'events', description: 'Look after the log of events' },
  subCommands: { prune, 'renew-epoch': renewEpoch },
})
