import type { Delivered, Delivery } from '../readers/delivery.ts'
import type { Reader } from '../readers/reader.ts'
import type { Followers } from './followers.ts'

/** Readers of the same events, which share their bytes: those of the group from which they came, if there is one, and more. */
export interface Group {
  before: Group | undefined
  more: Delivered[]
  delivery?: Delivery
}

/** The readers that events concern, each with the group of those that get the same ones. */
export function groupReaders(events: Delivered[], followers: Followers): Map<Reader, Group> {
  const groups = new Map<Reader, Group>()
  let latest: Group[] = []
  events.forEach((event, index) => {
    if (index > 0 && concernSame(events[index - 1]!, event)) {
      for (const group of latest) group.more.push(event)
      return
    }
    // Readers of one group that get this event, too, are one group again.
    const next = new Map<Group | undefined, Group>()
    for (const reader of followers.concernedBy(event)) {
      const before = groups.get(reader)
      const group = next.get(before) ?? { before, more: [event] }
      next.set(before, group)
      groups.set(reader, group)
    }
    latest = [...next.values()]
  })
  return groups
}

/**
 * Whether two consecutive events concern the same readers: they are of one conversation, which no user joins or leaves
 * between them, and for all of its participants or for one user.
 */
function concernSame(one: Delivered, next: Delivered): boolean {
  if (one.event.type === 'membership.changed' || next.event.type === 'membership.changed') return false
  if (one.for_user_id !== next.for_user_id) return false
  const areOfLog = one.at !== undefined && next.at !== undefined
  return areOfLog && one.conversation_id === next.conversation_id
}

/** The events of a group, in their order. */
export function listGroupEvents(group: Group): Delivered[] {
  const runs: Delivered[][] = []
  for (let each: Group | undefined = group; each; each = each.before) runs.push(each.more)
  return runs.reverse().flat()
}
