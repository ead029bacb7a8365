import type { NumberedEvent } from '../../lib/live/log/log.ts'
import { times } from '../support/service.ts'
import type { Interleaving } from './interleavings.ts'

/** Names the history of the log, in the ids of its events. */
const EPOCH = '0123456789abcdef'

export const conversation_id = 'c'

/** A log in memory, which answers late, in pages of any length, and not always. */
export function createLog(work: Interleaving) {
  const lines: NumberedEvent[] = []
  let begin = 0
  let first = 1
  let isFailing = false
  async function answer(): Promise<void> {
    await work.pause()
    if (isFailing && work.chance(0.15)) throw new Error('The database does not respond')
  }
  return {
    lines,
    answer,
    /** The numbers of the events that a channel which follows it has to deliver. */
    due: () => lines.filter(({ seq, event }) => seq > begin && event).map(({ seq }) => seq),
    setFailing(isNow: boolean): void {
      isFailing = isNow
    },
    deleteBefore(seq: number): void {
      first = Math.max(first, seq)
    },
    append(count: number, isWhole: boolean): NumberedEvent[] {
      const added = times(count, (index): NumberedEvent => {
        const seq = lines.length + 1 + index
        const line = { seq, conversation_id, at: seq }
        const payload = { conversation_id, user_id: 'u', action: 'added' as const, role: 'member' as const }
        return isWhole || work.chance(0.9) ? { ...line, event: { type: 'membership.changed', payload } } : line
      })
      lines.push(...added)
      return added
    },
    source: {
      async head() {
        await work.pause()
        begin = lines.length
        return { epoch: EPOCH, first, last: begin }
      },
      async read(after: number, limit: number) {
        await answer()
        const found = lines.slice(Math.max(after, first - 1)).slice(0, limit)
        await work.pause()
        // Long ones are not read at once.
        if (found.length < 2 || work.chance(0.8)) return { lines: found, isLast: found.length < limit }
        return { lines: found.slice(0, 1 + work.below(found.length - 1)), isLast: false }
      },
    },
  }
}
