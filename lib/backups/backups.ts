import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { storesFiles } from '../config/attachments.ts'
import type { Config } from '../config/parse.ts'
import type { Log } from '../context.ts'
import { causeText } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { parseSchedule } from '../core/scheduling/schedule.ts'
import { SECOND } from '../core/units.ts'
import type { FileStore } from '../files/file-store.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { Database } from '../storage/database.ts'
import type { ObjectInfo, Objects } from '../storage/objects/objects.ts'
import { openObjects } from '../storage/objects/open.ts'
import { digestBytes, hashed } from './digest.ts'
import { openPlaces, type SavedFiles, saveFiles } from './files.ts'
import { deriveFilesKey } from './files-key.ts'
import { fileExtension, pack } from './packing.ts'
import { assertPlace, isPlaceOfLast, markPlace } from './place.ts'
import { backupName, backupPrefix, describeWriter, dueAt, isAhead, isBackupName, outdated, timeAfter } from './rules.ts'
import { withSource } from './source.ts'
import {
  type BackupState,
  clampTimes,
  findState,
  findWriter,
  insertState,
  releaseLease,
  renewLease,
  storeFailure,
  storeSuccess,
  takeLease,
} from './store.ts'

/** Longer than that of a task: it is renewed while the database is busy with the copy. */
const LEASE = 60 * SECOND
const RENEW_MS = 10_000

/** How long the deletion of an incomplete backup may take: while the service stops, and otherwise. */
const REMOVE_MS = { stopping: 2_000, failed: 30_000 }

/** A backup that was made. */
export interface MadeBackup {
  name: string
  bytes: number
  /** The names of the backups deleted since. */
  deleted: string[]
  /** The files of messages, if they are copied, too. */
  files?: SavedFiles
  /** Why not all of them could be copied: the backup itself is whole. */
  files_error?: string
}

/** The backups of a service. */
export interface Backups {
  /** Makes a backup if one is due and no other process does. Failures are logged. Never throws because of the target. */
  check(): Promise<void>
  /** Makes a backup now. @throws Error when it fails, or another process is making one */
  run(): Promise<MadeBackup>
  /** Ends the one in progress; nothing of it remains. */
  stop(why?: string): void
}

interface BackupDeps {
  config: Pick<Config, 'attachments' | 'avatars' | 'backup'>
  db: Database
  metrics: Pick<Metrics, 'backupFailed'>
  log: Log
  now: () => number
  /** Whether the clock is trusted: a step makes a backup due that is none, and would cost the oldest one. */
  isTrusted: () => boolean
  /** The storage of the files of messages. */
  files: () => Promise<FileStore>
}

/** Creates the backups of a service; none is made before `check` or `run`. */
export function createBackups(deps: BackupDeps): Backups {
  const { config, db, metrics, log, now } = deps
  const stopped = new AbortController()

  async function attempt(state: BackupState): Promise<MadeBackup | undefined> {
    const writer = `${newId()} ${process.pid} ${hostname()}`
    if (!(await db.write((tx) => takeLease(tx, writer, LEASE, state)))) return undefined
    const lost = new AbortController()
    const signal = AbortSignal.any([stopped.signal, lost.signal])
    const renewing = setInterval(() => {
      db.write((tx) => renewLease(tx, writer, LEASE)).then(
        (isHeld) => isHeld || lost.abort(new Error('Another process has taken over')),
        () => {},
      )
    }, RENEW_MS).unref()
    try {
      const backup = await makeBackup(deps, state, signal)
      const { deleted, ...kept } = backup
      const stored = { detail: JSON.stringify(kept), target: openTarget(config).place }
      await db.write((tx) => storeSuccess(tx, writer, now(), stored))
      return backup
    } catch (error) {
      if (stopped.signal.aborted) await db.write((tx) => releaseLease(tx, writer)).catch(() => {})
      else await db.write((tx) => storeFailure(tx, writer, now(), causeText(error))).catch(() => {})
      throw error
    } finally {
      clearInterval(renewing)
    }
  }

  return {
    async check() {
      const schedule = config.backup.schedule === undefined ? undefined : parseSchedule(config.backup.schedule)
      if (!schedule || stopped.signal.aborted) return
      const state = await stateOf(deps)
      if (dueAt(schedule, state) > now()) return
      try {
        const backup = await attempt(state)
        if (backup) log.info('Made a backup', { copy: backup.name, bytes: backup.bytes })
      } catch (error) {
        if (stopped.signal.aborted) return
        metrics.backupFailed()
        log.warn('A backup failed and will be tried again', { cause: causeText(error) })
      }
    },
    async run() {
      const backup = await attempt(await stateOf(deps))
      if (backup) return backup
      const writer = await findWriter(db)
      if (writer !== undefined) throw new Error(`Another process is making a backup now: ${describeWriter(writer)}`)
      // It has made one between these two steps.
      const later = await attempt(await stateOf(deps))
      if (!later) throw new Error('Another process is making a backup now')
      return later
    },
    stop: (why = 'The service stops') => stopped.abort(new Error(why)),
  }
}

/** The state of the backups, which is added if there is none, and corrected after a clock was wrong. */
async function stateOf({ db, log, now }: BackupDeps): Promise<BackupState> {
  const row = await findState(db)
  if (row && !isAhead(row, now())) return row
  if (row) {
    log.warn('The last backup has a later time than now: a clock was wrong. The next one is due as if it was made now')
    await db.write((tx) => clampTimes(tx, now()))
  } else await db.write((tx) => insertState(tx, randomBytes(4).toString('hex'), now()))
  return (await findState(db))!
}

/** The place of the backups, or a folder in it. @throws Error without `backup.target` */
export function openTarget({ backup }: Pick<Config, 'backup'>, folder?: string): Objects {
  if (backup.target === undefined) throw new Error('There is no place for backups: set backup.target')
  return openObjects(folder ? `${backup.target.replace(/\/$/, '')}/${folder}` : backup.target, backup.s3)
}

/** Writes a backup, reads it again, and deletes the oldest ones. */
async function makeBackup(deps: BackupDeps, state: BackupState, signal: AbortSignal): Promise<MadeBackup> {
  const { config, db, log, now, isTrusted } = deps
  const { backup } = config
  const { owner, detail, target } = state
  const objects = openTarget(config)
  await assertPlace(objects, state)
  if (target !== null && target !== objects.place)
    log.info('Backups are stored at another place from now on', { copy: objects.place })
  // Its disk may be unmounted while the copy is made: a folder that is created then would look like the place from now on.
  const options = { is_there: isPlaceOfLast(objects, state), signal }
  const made = await withSource(db, signal, async (source) => {
    const last: string | undefined = detail === null ? undefined : JSON.parse(detail).name
    const name = backupName(owner, timeAfter(last, now()), source.ends + fileExtension(backup))
    const packed = hashed(await pack(source.bytes, backup))
    let isStored = false
    try {
      const bytes = await objects.put(name, packed.bytes, { ...options, about_bytes: source.about_bytes })
      isStored = true
      await assertStored(objects, name, packed.sha256(), signal)
      await assertPlace(objects, state, name)
      return { name, bytes }
    } catch (error) {
      // Also after a failed `put`: the answer to its last request may have been lost.
      const ms = signal.aborted ? REMOVE_MS.stopping : REMOVE_MS.failed
      await objects.delete(name, { signal: AbortSignal.timeout(ms) }).catch((cause: unknown) => {
        if (isStored) log.warn('A backup that failed remains: delete it', { copy: name, cause: causeText(cause) })
      })
      throw error
    }
  })
  await markPlace(objects, owner, options)
  const deleted = await deleteOld(objects, made.name, {
    owner,
    keep: isTrusted() ? backup.keep : Number.POSITIVE_INFINITY,
    log,
  }).catch((error: unknown) => {
    log.warn('Old backups could not be deleted', { cause: causeText(error) })
    return []
  })
  return { ...made, deleted, ...(await addFiles(deps, objects, { owner, signal })) }
}

/**
 * Copies the files of messages, after the database: whatever the copy names still exists. A failure leaves the backup
 * as it is, and the next one continues; otherwise no database would be backed up while one file cannot be read.
 */
async function addFiles(
  { config, db, metrics, log, files }: BackupDeps,
  objects: Objects,
  { owner, signal }: { owner: string; signal: AbortSignal },
): Promise<Pick<MadeBackup, 'files' | 'files_error'>> {
  if (!config.backup.files || !storesFiles(config)) return {}
  const failed = (files_error: string) => {
    // The next one continues after a stop.
    if (signal.aborted) return { files_error }
    metrics.backupFailed()
    log.warn('A backup has not all files of messages', { cause: files_error })
    return { files_error }
  }
  try {
    const names = (await listBackups(objects, backupPrefix(owner))).map(({ key }) => key)
    const key = await deriveFilesKey(config.backup, owner)
    const to = openPlaces(owner, (folder) => openTarget(config, folder), key)
    const saved = await saveFiles(db, { from: await files(), to }, { names, signal })
    const { missing, missing_ids } = saved
    if (missing === 0) return { files: saved }
    return { files: saved, ...failed(`The storage of files lacks ${missing} files: ${missing_ids.join(', ')}`) }
  } catch (error) {
    return failed(causeText(error))
  }
}

/** The source was checked before it was packed; this compares what is stored with what was sent. */
async function assertStored(objects: Objects, name: string, digest: string, signal: AbortSignal): Promise<void> {
  const stored = await objects.get(name, { signal })
  const found = stored && (await digestBytes(stored))
  signal.throwIfAborted()
  if (found === digest) return
  throw new Error(`${objects.place} returns another backup than was stored`)
}

async function deleteOld(
  objects: Objects,
  newest: string,
  { owner, keep, log }: { owner: string; keep: number; log: Log },
): Promise<string[]> {
  const names = (await listBackups(objects, backupPrefix(owner))).map(({ key }) => key)
  const { old, later } = outdated(names, newest, keep)
  if (later.length > 0)
    log.warn('Backups have a later time in their names than this one: a clock was wrong. They are not deleted', {
      copy: `${later.slice(0, 10).join(', ')}${later.length > 10 ? `, and ${later.length - 10} more` : ''}`,
    })
  for (const name of old) await objects.delete(name)
  return old
}

/** The backups at a place, oldest first by owner. @param prefix how their names begin; default: those of all owners */
export async function listBackups(objects: Objects, prefix = 'chat-server-'): Promise<ObjectInfo[]> {
  const backups: ObjectInfo[] = []
  for (let after = ''; ; ) {
    const page = await objects.list(prefix, { after })
    backups.push(...page.objects.filter(({ key }) => isBackupName(key)))
    if (page.next === undefined) return backups
    after = page.next
  }
}
