import type { EventRow } from '../../live/log/log.ts'
import type { Queries } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'
import { listInvocations, toInvocation } from '../commands/store.ts'
import { listNoticesById, toNotice } from '../notices/store.ts'
import type { PrivateEvent } from './schema.ts'

/** The private events of some rows, by row; without what is deleted or has expired. */
export async function composePrivate(
  db: Queries,
  rows: readonly EventRow[],
  now: Micros,
): Promise<Map<EventRow, PrivateEvent>> {
  const own = rows.filter(({ for_user_id }) => for_user_id !== null)
  const events = new Map<EventRow, PrivateEvent>()
  if (own.length === 0) return events
  const ids = own.flatMap((row) => (row.type === 'notice.new' ? noticeIn(row) : []))
  const notices = new Map((await listNoticesById(db, new Set(ids), now)).map((row) => [row.id, row]))
  const called = own.flatMap((row) => (row.type === 'command.invoked' ? invocationIn(row) : []))
  const calls = new Map((await listInvocations(db, new Set(called))).map((row) => [row.id, row]))
  for (const row of own) {
    const call = row.type === 'command.invoked' && calls.get(invocationIn(row))
    if (call) events.set(row, { type: 'command.invoked', payload: toInvocation(call) })
    const notice = row.type === 'notice.new' && notices.get(noticeIn(row))
    if (notice) events.set(row, { type: 'notice.new', payload: { notice: toNotice(notice) } })
    if (row.type !== 'notice.removed') continue
    events.set(row, { type: row.type, payload: { notice_id: noticeIn(row), conversation_id: row.conversation_id } })
  }
  return events
}

const invocationIn = ({ detail }: EventRow) => (JSON.parse(detail!) as { invocation_id: string }).invocation_id
const noticeIn = ({ detail }: EventRow) => (JSON.parse(detail!) as { notice_id: string }).notice_id
