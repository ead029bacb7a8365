import type { Tx } from '../../live/transaction/transaction.ts'
import type { Queries } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'
import { addToMentions } from '../../storage/unread-mentions.ts'
import type { Reader } from '../../storage/unread-set.ts'
import { publishRead } from './publishing.ts'
import { mentionGroups } from './rules.ts'
import type { ChangedMessage } from './store-changes.ts'
import type { NotifiedReader } from './store-reading.ts'
import type { Standing } from './store-scopes.ts'
import * as store from './store-scopes.ts'

/**
 * Brings the notifications of the scopes of a message up to date that was deleted or restored. Those without an unread
 * message are hidden; the others show the latest one.
 *
 * @returns the users whose number of unread notifications may have changed
 */
export async function changeScopes(tx: Queries, message: ChangedMessage, isDeleted: boolean): Promise<string[]> {
  await store.setHiddenOfRead(tx, message, isDeleted ? 1 : 0)
  return refreshScopes(tx, message.conversation_id, [message.root_id], isDeleted ? -1 : 1)
}

/**
 * Brings the notifications of these threads, or of their direct conversation, up to date.
 *
 * @param pending what the transaction adds to the messages of the conversation when it ends
 * @returns as {@link changeScopes}
 */
export async function refreshScopes(
  tx: Queries,
  conversationId: string,
  rootIds: readonly string[],
  pending = 0,
): Promise<string[]> {
  const readers = await store.listDirectReaders(tx, conversationId)
  const direct = await Promise.all(readers.map((reader) => withLatest(tx, reader, pending)))
  const rows = readers.length > 0 ? direct.flat() : await store.listOfThreads(tx, rootIds)
  await show(tx, conversationId, rows)
  return rows.map(({ user_id }) => user_id)
}

/** The notifications of kind `direct` of a reader, with the number of unread messages. */
async function withLatest(tx: Queries, reader: Reader, pending = 0): Promise<Standing[]> {
  const rows = await store.listDirect(tx, reader)
  const count = rows.length > 0 ? await store.countDirect(tx, reader, pending) : 0
  return Promise.all(
    rows.map(async (row) => {
      const latest = count > 0 ? await store.findLatestDirect(tx, reader, row.at) : undefined
      const deleted = count === 0 ? await store.findLatestDirect(tx, reader, row.at, 'deleted') : undefined
      return { ...row, count, latest: latest?.id ?? null, deleted: deleted?.id ?? null }
    }),
  )
}

/** Lets them show the latest message; those without one are hidden. */
async function show(tx: Queries, conversation_id: string, rows: readonly Standing[]): Promise<void> {
  const changed = rows.flatMap((row) => {
    const hidden: 0 | 1 = row.count > 0 ? 0 : 1
    const message_id = row.latest ?? row.message_id
    return hidden === row.hidden && message_id === row.message_id ? [] : { ...row, hidden, message_id, was: row.hidden }
  })
  await store.setShown(tx, changed)
  const turned = (to: 0 | 1) =>
    toCounted(
      changed.filter(({ hidden, was }) => hidden === to && was !== to),
      conversation_id,
    )
  await addToMentions(tx, mentionGroups(turned(0)), 1)
  await addToMentions(tx, mentionGroups(turned(1)), -1)
}

const toCounted = (rows: readonly Pick<Standing, 'user_id' | 'kind'>[], conversation_id: string) =>
  rows.map(({ user_id, kind }) => ({ kind, conversation_id, users: [{ user_id }] }))

/** {@link settleScopes}, and tells the inboxes of the reader. */
export async function readScopes(
  tx: Tx,
  reader: NotifiedReader,
  rootId: string | undefined,
  now: Micros,
): Promise<void> {
  const { ids, isOther } = await settleScopes(tx, reader, rootId, now)
  publishRead(tx, reader.user_id, ids)
  if (isOther) tx.publishCounts([reader.user_id])
}

/**
 * Reads the notifications of scopes in which a reader has nothing unread any more, after a mark of a thread or of all. The
 * others show the latest unread message, or are hidden if all are deleted.
 *
 * @returns the ids of those that were shown and are read, and whether there are others
 */
export async function settleScopes(
  tx: Queries,
  reader: NotifiedReader,
  rootId: string | undefined,
  now: Micros,
): Promise<{ ids: string[]; isOther: boolean }> {
  const { user_id, conversation_id, is_direct, unread_mentions } = reader
  if (is_direct === 0 && unread_mentions === 0) return { ids: [], isOther: false }
  const rows = is_direct === 1 ? await withLatest(tx, reader) : await store.listOfReader(tx, reader, rootId)
  const isOver = ({ count, deleted }: Standing) => count === 0 && deleted === null
  const read = rows.filter(isOver)
  const rest = rows.filter((row) => !isOver(row))
  const shown = read.filter(({ hidden }) => hidden === 0)
  if (read.length > 0) {
    await store.setRead(
      tx,
      user_id,
      read.map(({ id }) => id),
      now,
    )
    await addToMentions(tx, mentionGroups(toCounted(shown, conversation_id)), -1)
  }
  await show(tx, conversation_id, rest)
  return { ids: shown.map(({ id }) => id), isOther: rest.length > 0 }
}

/** Reads the notification of a thread that its user follows no longer. */
export async function endScope(tx: Tx, reader: Reader, rootId: string, now: Micros): Promise<void> {
  await readScopes(tx, { ...reader, is_direct: 0, unread_mentions: 1 }, rootId, now)
}

/**
 * Makes the latest notification of a scope unread, after a mark has put messages back; it shows the latest unread one.
 *
 * @returns whether the number of unread notifications may have changed
 */
export async function reopenScope(
  tx: Tx,
  reader: NotifiedReader,
  { root_id, from }: { root_id?: string; from: Micros },
): Promise<boolean> {
  const { user_id, conversation_id, is_direct } = reader
  const scope = is_direct === 1 ? conversation_id : root_id
  if (scope === undefined) return false
  const count = await (is_direct === 1 ? store.countDirect(tx, reader, 0) : store.countFollowed(tx, reader, scope))
  if (count === 0) return false
  const list = () => (is_direct === 1 ? withLatest(tx, reader) : store.listOfReader(tx, reader, scope))
  const isUnread = (await list()).length > 0
  const id = isUnread ? undefined : await store.findReadOf(tx, reader, { scope, from })
  if (!isUnread && id === undefined) return false
  if (id !== undefined) await store.setUnreadOf(tx, { user_id, id }, scope)
  await show(tx, conversation_id, await list())
  return true
}

/**
 * Lets the notifications of scopes show another message where users have one of the message itself since an edit. Those that
 * stood for this message alone are gone.
 *
 * @returns the users whose number of unread notifications may have changed
 */
export async function giveWay(tx: Queries, { id, conversation_id }: ChangedMessage): Promise<string[]> {
  const rows = await store.listDoubled(tx, id)
  for (const row of rows) {
    const { user_id, kind, at, hidden } = row
    const direct = kind === 'direct' ? await store.findLatestDirect(tx, { user_id, conversation_id }, at) : undefined
    const other = direct?.has_own === 0 ? direct.id : row.other
    if (other !== null) await store.setShown(tx, [{ user_id, id: row.id, hidden: 0, message_id: other }])
    else await store.remove(tx, row)
    const by = Number(other !== null) - Number(hidden === 0)
    if (by !== 0) await addToMentions(tx, mentionGroups(toCounted([row], conversation_id)), by === 1 ? 1 : -1)
  }
  return rows.map(({ user_id }) => user_id)
}
