/** How many of the users who replied last in a thread are named. */
export const NAMED_REPLIERS = 3

/** A user who replied in a thread, and when the latest reply of theirs arrived, in microseconds. */
export interface Replier {
  user_id: string
  at: number
}

/** The list of a thread as it is stored. */
export function toRepliers(list: string): Replier[] {
  if (list === '') return []
  return list.split(',').map((entry) => {
    const [user_id, at] = entry.split(':') as [string, string]
    return { user_id, at: Number(at) }
  })
}

/** The users of a stored list. */
export const toReplierIds = (list: string): string[] => toRepliers(list).map(({ user_id }) => user_id)

/** A list in the form in which a thread stores it. */
export const fromRepliers = (repliers: readonly Replier[]): string =>
  repliers.map(({ user_id, at }) => `${user_id}:${at}`).join(',')

/** The users who replied last, each once, latest first. */
export function lastRepliers(repliers: readonly Replier[]): Replier[] {
  const inOrder = repliers.toSorted((one, other) => other.at - one.at)
  const latest = new Map(inOrder.toReversed().map((replier) => [replier.user_id, replier]))
  return inOrder.filter((replier) => latest.get(replier.user_id) === replier).slice(0, NAMED_REPLIERS)
}
