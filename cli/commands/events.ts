import { defineCommand as defineGroup } from 'citty'
import { assertMigratable } from '../../lib/storage/schema/migrate.ts'
import { acceptClockArg, assertClock } from '../args/clock.ts'
import { commonArgs, defineCommand } from '../args/command.ts'
import { describeFreed, measureInside } from '../freed.ts'
import { oneLine, print, table } from '../output.ts'
import { withChat, withStorage } from '../with-chat.ts'

const prune = defineCommand({
  meta: { name: 'prune', description: 'Delete events and other rows past their retention time' },
  example: 'chat-server events prune --json',
  args: { ...acceptClockArg, ...commonArgs },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      await assertClock(chat, args)
      const { value: pruned, inside_bytes } = await measureInside(chat, chat.ops.prune)
      const rows = Object.entries(pruned).map(([kind, count]) => [kind, String(count)])
      const freed = { disk_bytes: 0, inside_bytes }
      print(args, { ...pruned, freed }, `${table(['KIND', 'DELETED'], rows)}\n${oneLine(describeFreed(freed))}`)
    }),
})

const TEXT =
  'Earlier event ids are invalid now: every client will read the state again. Backups get a new id in their names.'

const renewEpoch = defineCommand({
  meta: {
    name: 'renew-epoch',
    description: 'Start a new event history after a restore by pg_restore or similar; no service may run',
  },
  example: 'chat-server events renew-epoch --database postgres://chat@localhost/chat',
  args: commonArgs,
  run: ({ args }) =>
    withStorage(args, async (storage) => {
      await assertMigratable(storage.db)
      await storage.renewEpoch()
      print(args, { renewed: true }, TEXT)
    }),
})

export default defineGroup({
  meta: { name: 'events', description: 'Maintain the event log' },
  subCommands: { prune, 'renew-epoch': renewEpoch },
})
