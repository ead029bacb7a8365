import { ChatError } from '../../core/errors.ts'
import type { Queries } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'
import { fromCursor, isMessageId, type List } from './rules.ts'
import type { RepliesQuery } from './schema.ts'
import { findPlace } from './store.ts'

/** Where a page begins: between the messages that arrived before `point`, and the others. */
export interface Begin {
  point: Micros
  /** The number of messages of each side on the page. */
  older: number
  newer: number
}

/** @throws ChatError `validation_failed` for two of `before`, `after`, `around` */
export function assertOnePlace({ before, after, around }: RepliesQuery): void {
  const names = Object.entries({ before, after, around }).flatMap(([name, place]) => (place === undefined ? [] : name))
  if (names.length < 2) return
  throw new ChatError('validation_failed', {
    errors: [{ path: names[1]!, message: `must be left out with ${names[0]}` }],
  })
}

/**
 * Where the page of a query begins.
 *
 * @param firstUnread the arrival of the earliest unread message of the list
 * @throws ChatError `not_found` for a message that is not there; `invalid_cursor`
 */
export async function findBegin(
  db: Queries,
  list: List,
  { before, after, around, limit }: RepliesQuery,
  firstUnread: Micros | undefined,
): Promise<Begin> {
  if (before !== undefined) return { point: await findArrival(db, list, before), older: limit, newer: 0 }
  if (after !== undefined) return { point: (await findArrival(db, list, after)) + 1, older: 0, newer: limit }
  const at = around === undefined || around === 'unread' ? firstUnread : await findArrival(db, list, around)
  if (around === undefined || at === undefined) return { point: Number.MAX_SAFE_INTEGER, older: limit, newer: 0 }
  const older = Math.floor(limit / 2)
  return { point: at, older, newer: limit - older }
}

/** The arrival that a message id or a cursor stands for. Where roots are listed, the id of a reply stands for its root. */
async function findArrival(db: Queries, list: List, place: string): Promise<Micros> {
  if (!isMessageId(place)) {
    const at = fromCursor(list, place)
    if (at === undefined) throw new ChatError('invalid_cursor')
    return at
  }
  const message = await findPlace(db, place)
  if (message?.[list.view === 'thread' ? 'root_id' : 'conversation_id'] !== list.id) throw new ChatError('not_found')
  return list.view === 'roots' ? message.root_at : message.at
}
