import type { StoreMessage } from 'chat-server/client/store'

/** A message in its place. */
export interface Row {
  message: StoreMessage
  /** How far it is indented. */
  level: number
  /** How many messages are below it. */
  below: number
  /** How many of these are unread. */
  unread: number
  /** Whether its branch can be collapsed, and is. */
  branch?: 'open' | 'collapsed'
}

/** The ids of the messages above one. */
export function ancestorsOf(messages: readonly StoreMessage[], id: string): Set<string> {
  const parents = new Map(messages.map((message) => [message.id, message.parent_id]))
  const above = new Set<string>()
  for (let at = parents.get(id); at !== undefined && !above.has(at); at = parents.get(at)) above.add(at)
  return above
}

/**
 * The rows of a thread that is given depth first. What was said one after another stands one below the other: a message
 * with several replies begins a branch with each of them, and what follows in a branch is indented once more.
 *
 * @param collapsed the ids of messages whose branch is collapsed
 * @param unread the ids of unread messages
 */
export function rowsOf(
  messages: readonly StoreMessage[],
  collapsed: ReadonlySet<string>,
  unread: ReadonlySet<string> = new Set(),
): Row[] {
  const replies = new Map<string, number>()
  for (const { parent_id = '' } of messages) replies.set(parent_id, (replies.get(parent_id) ?? 0) + 1)

  const rows: Row[] = []
  const levels = new Map<string, number>()
  /** The messages that begin a branch. */
  const heads = new Set<string>()
  /** The rows from the root to the one before: each counts what is below it. */
  const trail: Row[] = []
  /** The row whose branch is hidden. */
  let hiding: Row | undefined
  for (const message of messages) {
    const { id, parent_id = '', depth } = message
    while (trail.length > 0 && trail.at(-1)!.message.depth >= depth) trail.pop()
    for (const row of trail) {
      row.below++
      if (unread.has(id)) row.unread++
    }
    if (hiding && !trail.includes(hiding)) hiding = undefined

    const isHead = replies.get(parent_id)! > 1 && parent_id !== ''
    const level = (levels.get(parent_id) ?? 0) + (isHead || heads.has(parent_id) ? 1 : 0)
    levels.set(id, level)
    if (isHead) heads.add(id)
    const count = replies.get(id) ?? 0
    const isBranch = parent_id !== '' && (isHead ? count > 0 : count > 1)
    const row: Row = {
      message,
      level,
      below: 0,
      unread: 0,
      ...(isBranch && { branch: collapsed.has(id) ? 'collapsed' : 'open' }),
    }
    trail.push(row)
    if (hiding) continue
    rows.push(row)
    if (row.branch === 'collapsed') hiding = row
  }
  return rows
}
