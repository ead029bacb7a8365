import { findSubjects } from '../../accounts/users/store-subjects.ts'
import type { Queries } from '../../storage/database.ts'

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * The host's own ids of the users that each event names, by user id. User ids are found by their form wherever an event
 * contains them, so that no event can be forgotten. One statement for all.
 */
export async function subjectsIn(db: Queries, events: readonly unknown[]): Promise<Record<string, string>[]> {
  const named = events.map((event) => new Set(idsIn(event)))
  const subjects = await findSubjects(db, [...new Set(named.flatMap((ids) => [...ids]))])
  return named.map((ids) =>
    Object.fromEntries([...ids].flatMap((id) => (subjects.has(id) ? [[id, subjects.get(id)!]] : []))),
  )
}

function idsIn(value: unknown): string[] {
  if (typeof value === 'string') return value.length === 36 && ID.test(value) ? [value] : []
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(idsIn) : []
}
