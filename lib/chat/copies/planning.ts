import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../../context.ts'
import { findPeople, type Standing } from './people.ts'
import type { Copy } from './reading.ts'
import { findPlace } from './store.ts'

/** What an import of an archive would do. */
export interface Plan {
  /** The conversation exists: nothing needs to be done. */
  is_there: boolean
  people: Standing[]
  /** None of its owners is a user of this service: it needs another one. */
  needs_owner: boolean
}

/** How often a removal is checked. */
const CHECK_MS = 500

/**
 * Finds out what an import would do. It waits for the end of a removal of the same conversation.
 *
 * @throws Error when it is still being removed after `wait_ms`
 */
export async function planImport(
  { db }: Pick<Context, 'db'>,
  copy: Copy,
  { wait_ms, signal }: { wait_ms: number; signal: AbortSignal },
): Promise<Plan> {
  const until = performance.now() + wait_ms
  let place = await findPlace(db, copy.id)
  while (place && place.deleted_at !== null) {
    if (performance.now() > until)
      throw new Error(
        'The conversation is still being removed, which a running service does: start it, and import again then',
      )
    await sleep(CHECK_MS, undefined, { signal })
    place = await findPlace(db, copy.id)
  }
  const people = await findPeople(db, copy.users)
  const owners = people.filter(({ copied, by }) => copy.roles.get(copied.id) === 'owner' && IS_PRESENT[by])
  const { system_id, is_direct } = copy.conversation
  const isOwned = owners.length > 0 || (system_id ?? null) !== null || is_direct === 1
  return { is_there: place !== undefined, people, needs_owner: !isOwned }
}

const IS_PRESENT = { id: true, subject: true, email: true, placeholder: false, erased: false }
