import { hash, randomBytes } from 'node:crypto'
import { closeSync, openSync, readFileSync, readlinkSync, rmSync, type Stats } from 'node:fs'
import { lstat, readdir, rm, utimes } from 'node:fs/promises'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { currentMillis } from '../core/time.ts'

/** `<file>.<machine>-<process>-<its start>-<random>.partial`, with the files that SQLite keeps beside it. */
const TEMPORARY = /\.([\da-f]{8})-(\d+)-(\d+)-[\da-f]{8}\.partial(-\w+)?$/

/** Copies of a database as versions up to 0.2 named them: without the process that writes them. */
const OUTDATED = /\.copy-[\da-f-]{36}(-\w+)?$|\.before-.+\.\d{8}T\d{6}Z\.partial(-\w+)?$/

/**
 * A temporary file whose process cannot be asked for is abandoned after so long without a change. Its own process changes
 * the time more often.
 */
const ABANDONED_MS = 60 * 60_000
const TOUCH_MS = 5 * 60_000

/** A temporary file or folder that its process has left behind. */
export interface Abandoned {
  path: string
  bytes: number
}

/** A file system takes names of 255 bytes; this leaves room for what is added. */
const MAX_NAME_BYTES = 190

/**
 * The name of a file, or a folder, until it is complete. It names this process, so that others know when it has died.
 */
export function toTemporaryPath(path: string): string {
  const name = Buffer.from(basename(path)).subarray(0, MAX_NAME_BYTES).toString()
  const by = `${machine()}-${process.pid}-${startOf(process.pid)?.start ?? 0}-${randomBytes(4).toString('hex')}`
  return join(dirname(path), `${name}.${by}.partial`)
}

/** The path that a temporary file gets when it is complete. Other paths are returned as they are. */
export function toTargetPath(path: string): string {
  return path.replace(TEMPORARY, '')
}

/**
 * Whether the process of a temporary file has died.
 *
 * @param name its name, or path
 * @param changedAt when it was changed, in milliseconds
 */
export function isAbandoned(name: string, changedAt: number): boolean {
  const [, at, pid, start] = TEMPORARY.exec(name) ?? []
  if (at === machine()) return !isAlive(Number(pid), start!)
  return currentMillis() - changedAt > ABANDONED_MS
}

/**
 * Lets `use` fill a file that only this user may read, unless `mode` is another one. It is deleted at the end if it was not
 * renamed. Before, those are deleted that killed processes have left in its folder.
 */
export async function withTemporary<T>(
  path: string,
  use: (temporary: string) => Promise<T>,
  { mode = 0o600 }: { mode?: number } = {},
): Promise<T> {
  await removeAbandoned(dirname(path))
  const temporary = toTemporaryPath(path)
  closeSync(openSync(temporary, 'wx', mode))
  return holdTemporary(temporary, use)
}

/** Lets `use` work in a temporary file or folder, which is deleted at the end with what SQLite keeps beside it. */
export async function holdTemporary<T>(temporary: string, use: (temporary: string) => Promise<T>): Promise<T> {
  const touching = setInterval(() => {
    const now = new Date(currentMillis())
    utimes(temporary, now, now).catch(() => {})
  }, TOUCH_MS).unref()
  try {
    return await use(temporary)
  } finally {
    clearInterval(touching)
    for (const end of ['', '-wal', '-shm', '-journal']) rmSync(`${temporary}${end}`, { recursive: true, force: true })
  }
}

/** Deletes the abandoned temporary files of a folder. What cannot be deleted stays: the work at hand does without. */
export async function removeAbandoned(folder: string): Promise<void> {
  for (const { path } of await listAbandoned(folder)) await rm(path, { recursive: true, force: true }).catch(() => {})
}

/** The abandoned temporary files of a folder that belong to this user; none of a folder that cannot be read. */
export async function listAbandoned(folder: string): Promise<Abandoned[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => TEMPORARY.test(name) || OUTDATED.test(name))
  const all = await Promise.all(names.map((name) => inspect(join(folder, name))))
  return all.filter((folder) => folder !== undefined)
}

async function inspect(path: string): Promise<Abandoned | undefined> {
  const found = await statOf(path)
  // Other users may create files in the folder for temporary files, and replace them while they are deleted.
  if (!found || found.isSymbolicLink() || found.uid !== (process.geteuid?.() ?? found.uid)) return undefined
  const names = found.isDirectory() ? await readdir(path).catch(() => []) : []
  const stats = await Promise.all(names.map((name) => statOf(join(path, name))))
  const all = [found, ...stats.filter((entry) => entry !== undefined)]
  const bytes = all.reduce((sum, entry) => sum + (entry.isFile() ? entry.size : 0), 0)
  return isAbandoned(path, Math.max(...all.map(({ mtimeMs }) => mtimeMs))) ? { path, bytes } : undefined
}

function statOf(path: string): Promise<Stats | undefined> {
  return lstat(path).catch(() => undefined)
}

let ownMachine: string | undefined

/**
 * Equal for processes that see each other's numbers. Two containers have the same host name, or the same boot, and yet
 * numbers of their own.
 */
function machine(): string {
  ownMachine ??= hash('sha256', bootAndNamespace() ?? hostname(), 'hex').slice(0, 8)
  return ownMachine
}

function bootAndNamespace(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1') + readlinkSync('/proc/self/ns/pid')
  } catch {
    // Linux only.
    return undefined
  }
}

/** @param start when the process of the file began; another one may have its number by now */
function isAlive(pid: number, start: string): boolean {
  const found = startOf(pid)
  if (found && start !== '0') return found.start === start && !found.isDead
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** When a process began, in ticks since the boot, from proc_pid_stat(5); `undefined` elsewhere than on Linux. */
function startOf(pid: number): { start: string; isDead: boolean } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The second field is the name of the program, which may contain anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { start: fields[19]!, isDead: 'ZX'.includes(fields[0]!) }
  } catch {
    return undefined
  }
}
