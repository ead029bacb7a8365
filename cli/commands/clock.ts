import { defineCommand as defineGroup } from 'citty'
import { contextOf } from '../../lib/core/context-of.ts'
import { toInstant } from '../../lib/core/time.ts'
import { trustClock } from '../../lib/ops/clock.ts'
import { readCommandClock } from '../../lib/storage/clock-notes.ts'
import { assertMigratable } from '../../lib/storage/schema/migrate.ts'
import { commonArgs, defineCommand } from '../args/command.ts'
import { print, table } from '../output.ts'
import { withChat, withStorage } from '../with-chat.ts'

const status = defineCommand({
  meta: { name: 'status', description: 'Show the time that services use, and whether they trust it' },
  example: 'chat-server clock status --json',
  args: commonArgs,
  run: ({ args }) =>
    withStorage(args, async ({ db }) => {
      await assertMigratable(db)
      const { now, note, doubt } = await readCommandClock(db)
      const status = {
        now: toInstant(now),
        trusted: doubt === undefined,
        ...(note !== undefined && { seen_at: toInstant(note) }),
        ...(doubt !== undefined && { reason: doubt }),
      }
      const rows = [
        ['trusted', doubt === undefined ? 'yes' : `no: ${doubt}`],
        ['noted last', note === undefined ? 'never' : toInstant(note)],
      ]
      print(args, status, table(['NOW', status.now], rows))
    }),
})

const trust = defineCommand({
  meta: { name: 'trust', description: 'Declare the present time as right, so that services delete by age again' },
  example: 'chat-server clock trust',
  args: commonArgs,
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const now = toInstant(await trustClock(contextOf(chat)))
      const text = `The clock is trusted: it is ${now}. Running services follow within 10 seconds.`
      print(args, { now, trusted: true }, text)
    }),
})

export default defineGroup({
  meta: { name: 'clock', description: 'Show whether the clock is trusted, or declare it as right' },
  subCommands: { status, trust },
})
