import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openHandle } from '../../storage/handles.ts'
import { bind, type Mount } from './mounts.ts'
import type { Fault } from './stage.ts'
import { inject } from './strace.ts'

const UNAVAILABLE = ['503 unavailable']

/** Writes fail, and reads continue. */
const WRITES_FAIL = { answers: UNAVAILABLE, reads: true, ready: true }

/** Every access to the database fails. */
const ALL_FAILS = { answers: UNAVAILABLE, reads: false, ready: false }

/** The target of a fault, and its duration. */
export interface SqliteStage {
  /** The database. */
  file: string
  /** The small file system with the database, if there is one. */
  mount: Mount | undefined
  lasts_ms?: number | undefined
}

/** A fault, and its requirements. */
export type SqliteFault = {
  needs: ('mount' | 'strace' | 'prlimit')[]
  make: (stage: SqliteStage) => Omit<Fault, 'name'>
}

/** Faults of a SQLite file in use, by name. */
export const SQLITE_FAULTS: Record<string, SqliteFault> = {
  'full disk': {
    needs: ['mount'],
    make: ({ mount }) => ({ ...WRITES_FAIL, answers: ['507 storage_full'], begin: async () => mount!.fill() }),
  },
  'no larger files (ulimit -f)': {
    needs: ['prlimit'],
    make: () => ({
      ...WRITES_FAIL,
      async begin({ pid }) {
        limitFiles(pid, '0:unlimited')
        return () => limitFiles(pid, 'unlimited')
      },
    }),
  },
  'write: ENOSPC': failing('pwrite64', 'error=ENOSPC', { ...WRITES_FAIL, answers: ['507 storage_full'] }),
  'write: EIO': failing('pwrite64', 'error=EIO', WRITES_FAIL),
  'write: EROFS': failing('pwrite64', 'error=EROFS', WRITES_FAIL),
  // Twice, as the first one may be of the search index, which no post notices.
  'write: EIO twice': failing('pwrite64', 'error=EIO:when=3..4', WRITES_FAIL),
  'sync: EIO': failing('fsync,fdatasync', 'error=EIO', WRITES_FAIL),
  'sync: EIO twice': failing('fsync,fdatasync', 'error=EIO:when=1..2', WRITES_FAIL),
  'read: EIO': {
    needs: ['strace'],
    make: ({ file }) => ({
      ...ALL_FAILS,
      async begin({ pid }) {
        const end = await inject(pid, 'pread64', 'error=EIO', file, `${file}-wal`)
        await forgetCache(file)
        return end
      },
    }),
  },
  'locked by another process': {
    needs: [],
    make: ({ file, lasts_ms }) => ({
      ...WRITES_FAIL,
      lasts_ms,
      async begin() {
        const other = await openHandle(file)
        other.exec('PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE')
        return () => other.close()
      },
    }),
  },
  'file moved away': moving(''),
  'WAL moved away': moving('-wal'),
  'folder unmounted': {
    needs: ['mount'],
    make: ({ file, mount }) => ({
      ...ALL_FAILS,
      async begin() {
        // The folder of the file is a bind mount of one on the small file system.
        execFileSync('umount', ['-l', dirname(file)])
        return () => void bind(realFolder(mount!), dirname(file))
      },
    }),
  },
}

/** The original location of the files in a bind-mounted folder. */
export function realFolder(mount: Mount): string {
  const folder = join(mount.path, 'real')
  mkdirSync(folder, { recursive: true })
  return folder
}

function failing(calls: string, how: string, effect: Omit<Fault, 'name' | 'begin'>): SqliteFault {
  const make = ({ file }: SqliteStage) => ({
    ...effect,
    begin: ({ pid }: { pid: number }) => inject(pid, calls, how, `${file}-wal`),
  })
  return { needs: ['strace'], make }
}

function moving(end: string): SqliteFault {
  const make = ({ file }: SqliteStage) => ({
    ...ALL_FAILS,
    async begin() {
      renameSync(file + end, `${file}${end}.away`)
      return () => renameSync(`${file}${end}.away`, file + end)
    },
  })
  return { needs: [], make }
}

/** Commits of another process: the service must read its data again. */
async function forgetCache(file: string): Promise<void> {
  const other = await openHandle(file)
  other.exec('PRAGMA busy_timeout = 5000')
  other.exec("INSERT INTO meta (name, value) VALUES ('fault', '')")
  other.exec("DELETE FROM meta WHERE name = 'fault'")
  other.close()
}

function limitFiles(pid: number, bytes: string): void {
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}`])
}
