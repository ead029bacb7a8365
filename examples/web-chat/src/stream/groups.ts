import type { TimelineStoreMessage } from 'chat-server/client/store'

/** How long the messages of an author are one group, from its first one on. */
const GROUP_MS = 5 * 60 * 1000

/** A message in a stream. */
export interface StreamRow {
  message: TimelineStoreMessage
  /** Whether it begins a group, and shows who has written it. */
  isHead: boolean
}

/** The messages of a day, in the time zone of the user. */
export interface Day {
  /** The same for all instants of the day. */
  key: string
  /** The time of its first message. */
  at: string
  rows: StreamRow[]
}

/**
 * The messages of a stream by day, and in groups of one author.
 *
 * @param first_new the id of the message below the line of what is new, which begins a group
 */
export function daysOf(messages: readonly TimelineStoreMessage[], first_new: string | undefined): Day[] {
  const days: Day[] = []
  let head: TimelineStoreMessage | undefined
  for (const message of messages) {
    const key = new Date(message.created_at).toDateString()
    if (days.at(-1)?.key !== key) {
      days.push({ key, at: message.created_at, rows: [] })
      head = undefined
    }
    const isHead = !head || message.id === first_new || !isOneGroup(head, message)
    if (isHead) head = message
    days.at(-1)!.rows.push({ message, isHead })
  }
  return days
}

function isOneGroup(head: TimelineStoreMessage, message: TimelineStoreMessage): boolean {
  const isSameAuthor = head.role === 'user' && message.role === 'user' && head.author_user_id === message.author_user_id
  const passed = Date.parse(message.created_at) - Date.parse(head.created_at)
  // The label of generated text is at the head of its group.
  if (head.generated !== message.generated) return false
  return isSameAuthor && head.author_user_id !== undefined && Math.abs(passed) < GROUP_MS
}
