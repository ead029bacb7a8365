import type { Objects, PutOptions } from '../storage/objects/objects.ts'
import { backupPrefix, isBackupName } from './rules.ts'
import type { BackupState } from './store.ts'

/** In the failure of a backup whose place is missing. */
const MISSING = 'The place of the backups is missing'

/** The key of the marker of a database at the place of its backups. */
const markerOf = (owner: string) => `marker-${owner}`

/** Whether the last attempt failed because the place was missing. */
export function wasMissing({ error }: Pick<BackupState, 'error'>): boolean {
  return error?.includes(MISSING) ?? false
}

type PlaceState = Pick<BackupState, 'owner' | 'succeeded_at' | 'target'>

/**
 * Whether the last backup was stored at this same place, and neither the marker nor any backup of the database is there: its
 * disk may not be mounted. Another place is a new one.
 *
 * @param newest the backup that was just stored there, which shows nothing
 */
export async function isPlaceMissing(objects: Objects, state: PlaceState, newest?: string): Promise<boolean> {
  if (!isPlaceOfLast(objects, state)) return false
  const { owner } = state
  if (await objects.head(markerOf(owner))) return false
  const { objects: found } = await objects.list(backupPrefix(owner), { limit: 100 })
  return !found.some(({ key }) => isBackupName(key) && key !== newest)
}

/** Whether the last backup was stored at this same place, so that it exists. */
export function isPlaceOfLast({ place }: Objects, { succeeded_at, target }: PlaceState): boolean {
  return succeeded_at !== null && target === place
}

/** @param newest the backup that was just stored there @throws Error if the place is missing */
export async function assertPlace(objects: Objects, state: PlaceState, newest?: string): Promise<void> {
  if (await isPlaceMissing(objects, state, newest))
    throw new Error(
      `${MISSING}: ${objects.place} has none of the backups that were stored there. Mount its disk, or set another backup.target`,
    )
}

/** Rewrites the marker with every backup. */
export async function markPlace(objects: Objects, owner: string, options: PutOptions): Promise<void> {
  const bytes = once(Buffer.from(`${JSON.stringify({ owner })}\n`))
  await objects.put(markerOf(owner), bytes, { ...options, about_bytes: 100 })
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
