import { contextOf } from '../../lib/core/context-of.ts'
import type { Chat } from '../../lib/service.ts'
import { readCommandClock } from '../../lib/storage/clock-notes.ts'

/** The flag of commands that delete by age. */
export const acceptClockArg = {
  'accept-clock': { type: 'boolean', description: 'Delete by age also when the clock may be wrong' },
} as const

/** @throws Error if the clock may be wrong: what is not due would be deleted */
export async function assertClock(chat: Chat, args: { 'accept-clock'?: boolean | undefined }): Promise<void> {
  if (args['accept-clock']) return
  const { doubt } = await readCommandClock(contextOf(chat).db)
  if (doubt === undefined) return
  throw new Error(
    `Nothing was deleted: ${doubt}. Correct the clock, or run "chat-server clock trust", or repeat this with --accept-clock`,
  )
}
