import { type MadeBackup, openTarget } from '../../lib/backups/backups.ts'
import { isPlaceMissing } from '../../lib/backups/place.ts'
import { overdueFor } from '../../lib/backups/rules.ts'
import { type BackupState, findState } from '../../lib/backups/store.ts'
import type { Config } from '../../lib/config/parse.ts'
import { parseSchedule } from '../../lib/core/scheduling/schedule.ts'
import { toInstant } from '../../lib/core/time.ts'
import { SECOND } from '../../lib/core/units.ts'
import type { Queries } from '../../lib/storage/database.ts'
import { toErrorMessage } from '../errors.ts'
import { type Finding, failure, note, ok, warning } from './finding.ts'

/** A failed attempt is repeated within an hour at the latest. */
const LATE = 3600 * SECOND

/** How long the place of the backups may take for each of three attempts. */
const TIMEOUT_MS = 3_000

/** The findings about the backups that the service makes by itself; none if it makes none. */
export async function checkBackups(config: Config, db: Queries, now: number): Promise<Finding[]> {
  const schedule = config.backup.schedule === undefined ? undefined : parseSchedule(config.backup.schedule)
  if (!schedule) return []
  const state = await findState(db)
  const late = state ? overdueFor(schedule, state, now) : 0
  return [judgeAge(state, late), ...judgeFiles(config, state), await checkTarget(config, state)]
}

/** Whether the last backup is as recent as it should be. @param late how long the next one has been due, in microseconds */
export function judgeAge(state: BackupState | undefined, late: number): Finding {
  const last = state?.succeeded_at
    ? `The last backup is from ${toInstant(state.succeeded_at)}`
    : 'No backup was made yet'
  const why = state?.error ? `; the last attempt failed: ${state.error}` : ''
  if (late > LATE)
    return warning(
      'backup.late',
      `${last}, and one has been due for ${Math.floor(late / LATE)} hours${why}.`,
      'Correct what fails, and try "chat-server backup run". Without a failure: is the service running?',
    )
  return state?.succeeded_at ? ok('backup.last', `${last}${why}.`) : note('backup.none', `${last}${why}.`)
}

/** Whether the last backup has the files of messages. */
export function judgeFiles(
  { attachments, backup }: Pick<Config, 'attachments' | 'backup'>,
  state: Pick<BackupState, 'detail'> | undefined,
): Finding[] {
  if (!attachments.enabled) return []
  if (!backup.files)
    return [
      note('backup.no_files', 'Backups have no files of messages: set backup.files, or copy them by other means.'),
    ]
  const { files, files_error } = JSON.parse(state?.detail ?? '{}') as Partial<MadeBackup>
  if (files_error !== undefined)
    return [
      warning(
        'backup.files_missing',
        `The last backup has not all files of messages: ${files_error.replace(/\.$/, '')}.`,
        'Correct attachments.storage or backup.target, and run "chat-server backup run". For lost files: "chat-server fsck --files".',
      ),
    ]
  return files ? [ok('backup.files', `The last backup has all ${files.files} files of messages.`)] : []
}

async function checkTarget(config: Config, state: BackupState | undefined): Promise<Finding> {
  try {
    const objects = openTarget({ backup: { ...config.backup, s3: { ...config.backup.s3, ...TIMEOUT } } })
    await objects.list('chat-server-', { limit: 1 })
    if (state && (await isPlaceMissing(objects, state)))
      return failure(
        'backup.target_missing',
        `${objects.place} has none of the backups that were stored there: no further one is made.`,
        'Mount its disk, or set another backup.target.',
      )
    return ok('backup.target', `Backups can be listed in ${objects.place}.`)
  } catch (error) {
    const remedy = 'Correct backup.target and backup.s3, or the permissions there.'
    return warning(
      'backup.target_unusable',
      `The place of the backups cannot be used: ${toErrorMessage(error)}.`,
      remedy,
    )
  }
}

const TIMEOUT = { timeout_ms: TIMEOUT_MS }
