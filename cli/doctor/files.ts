import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { MIB } from '../../lib/core/units.ts'
import { databaseFiles } from '../../lib/storage/archive/files.ts'
import { readDisk } from '../../lib/storage/space.ts'
import { isInWal } from '../../lib/storage/sqlite/file.ts'
import { type Finding, failure, note, ok, warning } from './finding.ts'

/** With less space, an hour of a busy service may not fit, or the WAL during a backup. */
const LITTLE_SPACE = 512 * MIB
const NO_SPACE = 32 * MIB

/** A WAL of this size is not being checkpointed: a process reads for hours, or never ends a transaction. */
const LARGE_WAL = 64 * MIB

/** Network file systems by their Linux number (statfs(2)): SQLite's locks and its WAL do not work there. */
const NETWORK_FILE_SYSTEMS: Record<number, string> = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'CIFS',
  4266872130: 'SMB2',
  16914839: '9P',
  12805120: 'Ceph',
  1397113167: 'AFS',
  1799439955: 'AFS',
  1196443219: 'GPFS',
  198183888: 'Lustre',
}

/** The file of a SQLite URL. `undefined` for a database in memory, and for PostgreSQL. */
export function sqliteFile(url: string): string | undefined {
  const path = /^sqlite:(.+)$/.exec(url)?.[1]
  return path === undefined || path === ':memory:' ? undefined : resolve(path)
}

/** The findings about a SQLite file that need no open database. */
export function checkFile(path: string): Finding[] {
  const file = statSync(path, { throwIfNoEntry: false })
  if (!file) {
    return [
      failure(
        'database.missing',
        `${path} does not exist.`,
        'Start the service or run "chat-server setup", which create it; or pass the right path with --database.',
      ),
    ]
  }
  if (!file.isFile()) {
    return [failure('database.no_file', `${path} is not a file.`, 'Pass the right path with --database.')]
  }
  const wal = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  return [
    ...checkModes(path),
    ...judgeFileSystem(path, readDisk(path), file.size + wal),
    ...(wal > LARGE_WAL
      ? [
          warning(
            'database.large_wal',
            `${path}-wal holds ${inMib(wal)} that are not in the database file yet.`,
            'Find a program that keeps a read open for a long time; a restart of the service writes the WAL back.',
          ),
        ]
      : []),
    ...(file.size > 0 && !isInWal(path)
      ? [note('database.not_wal', `${path} is not in WAL mode; the service turns it on when it opens the file.`)]
      : []),
  ]
}

/** The findings about a file system: its type and its free space. */
export function judgeFileSystem(path: string, { type, free }: ReturnType<typeof readDisk>, size: number): Finding[] {
  const network = NETWORK_FILE_SYSTEMS[type]
  const findings: Finding[] = []
  if (network) {
    findings.push(
      failure(
        'database.network_file_system',
        `${path} is on a network file system (${network}), where SQLite can lose or damage data.`,
        'Move the database to a disk of this machine, or use PostgreSQL.',
      ),
    )
  }
  const space = judgeFree(free, `next to ${path}`)
  if (space.severity === 'ok' && free < size)
    findings.push(
      note(
        'disk.no_room_for_backup',
        `${inMib(free)} are free, less than the ${inMib(size)} of a backup next to ${path}.`,
      ),
    )
  else findings.push(space)
  return findings
}

/** The finding about the free space of a disk. @param where such as `next to data/chat.db` */
export function judgeFree(free: number, where: string): Finding {
  const message = `${inMib(free)} are free ${where}.`
  if (free < NO_SPACE) return failure('disk.full', message, 'Free some space: writes are about to fail.')
  if (free < LITTLE_SPACE)
    return warning('disk.nearly_full', message, 'Free some space, or move what is stored there to another disk.')
  return ok('disk.space', message)
}

function checkModes(path: string): Finding[] {
  if (process.platform === 'win32') return []
  const findings: Finding[] = []
  const folder = dirname(path)
  for (const file of databaseFiles(path)) {
    const mode = modeOf(file)
    if (mode === undefined || (mode & 0o077) === 0) continue
    findings.push(
      warning('database.file_readable', `Other users can read ${file} (${mode.toString(8)}).`, `chmod 600 ${file}`),
    )
  }
  if (modeOf(folder)! & 0o022) {
    findings.push(
      warning(
        'database.folder_writable',
        `Other users can replace the files in ${folder} (${modeOf(folder)!.toString(8)}).`,
        `chmod 700 ${folder}`,
      ),
    )
  }
  const owner = statSync(path).uid
  const self = process.geteuid!()
  if (owner !== self && self !== 0)
    findings.push(
      warning(
        'database.other_owner',
        `${path} belongs to user ${owner}, but this command runs as user ${self}.`,
        'Run the service and its commands as one user.',
      ),
    )
  return findings.length > 0 ? findings : [ok('database.permissions', `Only its user can read ${path}.`)]
}

function modeOf(path: string): number | undefined {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat && stat.mode & 0o777
}

function inMib(bytes: number): string {
  return `${Math.floor(bytes / MIB)} MiB`
}
