import type { Delivery } from '../readers/delivery.ts'
import type { Reader } from '../readers/reader.ts'

/** Missed events of a conversation, encoded once, and the number of the last one. */
export type MissedPage = Delivery & { seq: number }

/** The pages of a conversation whose read has not begun, by their first and last number. */
export type AwaitedPages = Map<string, { readers: Reader[]; page: Promise<MissedPage | undefined> }>

/**
 * A page for a reader. Readers that wait for the same one share its turn, and its bytes: the streams of a conversation come
 * back together, many with the same last event.
 *
 * None joins a read that has begun: what is deleted before a reader asks must not be sent to it.
 */
export function awaitPage(
  pages: AwaitedPages,
  reader: Reader,
  range: { from: number; to: number },
  deps: {
    read: () => Promise<MissedPage | undefined>
    /** Does the work at the turn of the readers. */
    turn: (readers: Reader[], work: () => Promise<MissedPage | undefined>) => Promise<MissedPage | undefined>
  },
): Promise<MissedPage | undefined> {
  const key = `${range.from}-${range.to}`
  const awaited = pages.get(key)
  awaited?.readers.push(reader)
  if (awaited) return awaited.page
  const readers = [reader]
  const page = deps.turn(readers, async () => {
    pages.delete(key)
    return readers.every(({ closed }) => closed) ? undefined : deps.read()
  })
  pages.set(key, { readers, page })
  return page
}
