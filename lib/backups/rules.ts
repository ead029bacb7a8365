import { nextTime, type Schedule } from '../core/scheduling/schedule.ts'
import { SECOND } from '../core/units.ts'
import type { BackupState } from './store.ts'

/** The pauses after failures: 2, 4, 8, 16, 32 minutes, then an hour. */
const MAX_PAUSE_MS = 3_600_000

/** When the next backup is due, in microseconds; 0 for now. */
export function dueAt(
  schedule: Schedule,
  { attempted_at, succeeded_at, failures }: { attempted_at: number; succeeded_at: number | null; failures: number },
): number {
  // The first of an interval is made at once: so it is known that it works.
  if ('every_ms' in schedule && succeeded_at === null && failures === 0) return 0
  const next = (nextTime(schedule, attempted_at / 1000) ?? Number.MAX_SAFE_INTEGER / 1000) * 1000
  if (failures === 0) return next
  const pause = Math.min(60_000 * 2 ** Math.min(failures, 10), MAX_PAUSE_MS) * 1000
  return Math.min(next, attempted_at + pause)
}

/** Ten minutes. Clocks of nodes differ a little; a time further ahead is of a clock that was wrong. */
const MAX_AHEAD = 600_000_000

/** Whether a stored time cannot be: nothing would be due until then. */
export function isAhead(
  { attempted_at, succeeded_at }: Pick<BackupState, 'attempted_at' | 'succeeded_at'>,
  now: number,
) {
  return Math.max(attempted_at, succeeded_at ?? 0) > now + MAX_AHEAD
}

/** How long a backup has been due, in microseconds, whatever has failed since; 0 while none is. */
export function overdueFor(
  schedule: Schedule,
  { created_at, succeeded_at }: { created_at: number; succeeded_at: number | null },
  now: number,
): number {
  // When a backup from the future was made is unknown: the alert must not wait for that time.
  const isKnown = succeeded_at !== null && succeeded_at <= now + MAX_AHEAD
  const since = isKnown ? succeeded_at : Math.min(created_at, now)
  const isFirst = 'every_ms' in schedule && succeeded_at === null
  const due = isFirst ? since : (nextTime(schedule, since / 1000) ?? Number.POSITIVE_INFINITY) * 1000
  return Math.max(0, now - due)
}

/**
 * Since when a process has the lease of the backups, and which process it is.
 *
 * @param writer an id of version 7, which begins with its time in milliseconds; then the number of the process and its host
 */
export function describeWriter(writer: string): string {
  const [id = '', pid, host] = writer.split(' ')
  const at = Number.parseInt(id.replace('-', '').slice(0, 12), 16)
  return `since ${new Date(at || 0).toISOString()}${host === undefined ? '' : `, process ${pid} on ${host}`}`
}

/** The name of a backup of this owner, such as `chat-server-7c3f0a92-20261122T033000Z.db.gz`. */
export function backupName(owner: string, now: number, ends: string): string {
  return `${backupPrefix(owner)}${stampOf(now)}${ends}`
}

const stampOf = (at: number) => new Date(at / 1000).toISOString().replace(/[-:]|\.\d+/g, '')

/** Backups may be made more often than once a second: the names of this many in one moment differ. */
const MAX_OF_A_SECOND = 60

/** The time for the name of a new backup: now, or the second after that of the last one, which it must not replace. */
export function timeAfter(last: string | undefined, now: number): number {
  const stamp = last && backupTime(last)
  const next = Array.from({ length: MAX_OF_A_SECOND }, (_, n) => now + n * SECOND)
  const index = next.findIndex((at) => stampOf(at) === stamp)
  return index === -1 ? now : now + (index + 1) * SECOND
}

/** How the names of all backups of an owner begin; they sort by age. */
export function backupPrefix(owner: string): string {
  return `chat-server-${owner}-`
}

/** The owner in the name of a backup. */
export function ownerIn(name: string): string {
  return name.slice(backupPrefix('').length - 1).split('-')[0]!
}

/** Whether it is the name of a backup, of any owner. */
export function isBackupName(name: string): boolean {
  return /^chat-server-[0-9a-f]{8}-\d{8}T\d{6}Z\.(db|jsonl)\.gz(\.age)?$/.test(name)
}

/**
 * The backups of an owner that must be deleted, and the ones whose names have a later time than the one just made.
 * For these a clock was wrong then or is wrong now: they are neither counted nor deleted. The new one is always kept.
 */
export function outdated(names: string[], newest: string, keep: number): { old: string[]; later: string[] } {
  const others = names.filter((name) => isBackupName(name) && name !== newest)
  const later = others.filter((name) => backupTime(name) > backupTime(newest))
  const earlier = others.filter((name) => backupTime(name) <= backupTime(newest))
  const old = earlier.toSorted((a, b) => backupTime(b).localeCompare(backupTime(a))).slice(Math.max(0, keep - 1))
  return { old, later }
}

/** The time in a name; such texts sort by age. */
export function backupTime(name: string): string {
  return /\d{8}T\d{6}Z/.exec(name)![0]
}
