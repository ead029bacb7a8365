import { execFile, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, chownSync, closeSync, constants, openSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

/** A PostgreSQL cluster in a temporary folder, reached by a unix socket only. */
export interface Cluster {
  /** The URL of the database `postgres`, from which others are created. */
  readonly url: string
  /** The id of the server process; it changes with a restart. */
  readonly pid: number
  /** The URL of a database for `openStorage`, `pg` and other clients; it creates nothing. */
  databaseUrl(name: string): string
  /** Ends every connection, runs `whileDown` without a server, and starts it again on the same data. */
  restart(whileDown?: () => Promise<void>): Promise<void>
  /** Ends the server as a crash does (SIGQUIT), and runs `whileDown`, if given, before it starts it again. */
  crash(whileDown?: () => Promise<void>): Promise<void>
  /** What the server has written to its log so far. */
  readLog(): Promise<string>
  /** Starts another server that follows this one. */
  startStandby(): Promise<Standby>
  /** Stops the server and removes its folder. */
  stop(): Promise<void>
}

/** The environment variable with the folder of files that a new cluster of this run copies: `initdb` takes a second. */
const FILES = 'TEST_CLUSTER_FILES'

/** A copy of a cluster that follows it. */
export interface Standby extends Cluster {
  /** Makes it a server of its own. Resolves when it takes writes. */
  promote(): Promise<void>
}

/** Settings of the server, beside those that all have. */
type Settings = Record<string, string | number>

/**
 * Starts a cluster that lives until `stop()`, and never longer than this process, however that ends.
 *
 * It sorts by ICU rules, so that a text column without `COLLATE "C"` has another order.
 *
 * @param parent the folder in which its folder is created
 * @param more settings of the server; others of its files can be changed while it is down
 * @param env of the server, beside that which all have
 * @returns `undefined` if PostgreSQL is not installed
 */
export async function startCluster(
  parent = tmpdir(),
  more: Settings = {},
  env: Record<string, string> = {},
): Promise<Cluster | undefined> {
  const bin = findBinaries()
  if (!bin) return undefined

  return startIn(bin, parent, { create: (folder, as) => createFiles(bin, folder, as), more, env })
}

/**
 * Makes the files that the clusters of this process, and of those that it starts, begin with.
 *
 * @returns a function that removes them
 */
export async function prepareClusters(parent: string): Promise<() => Promise<void>> {
  const bin = findBinaries()
  if (!bin) return async () => {}
  const folder = await mkdtemp(join(parent, 'chat-pg-files-'))
  await createFiles(bin, folder, runAs(folder))
  process.env[FILES] = join(folder, 'data')
  return async () => {
    delete process.env[FILES]
    await rm(folder, { recursive: true, force: true })
  }
}

interface ClusterOptions {
  create: (folder: string, as: SpawnOptions) => Promise<void>
  more: Settings
  env: Record<string, string>
}

/** Starts a cluster on the files that `create` makes in a new folder. */
async function startIn(bin: string, parent: string, { create, more, env }: ClusterOptions): Promise<Cluster> {
  const folder = await mkdtemp(join(shortened(parent), 'chat-pg-'))
  try {
    const asOwner = runAs(folder)
    await create(folder, asOwner)
    const as = { ...asOwner, env: { ...asOwner.env, ...env } }
    let server = await startServer(bin, folder, as, more)
    return {
      url: databaseUrl(folder, 'postgres'),
      get pid() {
        return server.pid
      },
      databaseUrl: (name) => databaseUrl(folder, name),
      async restart(whileDown) {
        await server.end()
        await whileDown?.()
        server = await startServer(bin, folder, as, more)
      },
      async crash(whileDown) {
        process.kill(server.pid, 'SIGQUIT')
        await server.end()
        await whileDown?.()
        server = await startServer(bin, folder, as, more)
      },
      readLog: () => readFile(join(folder, 'log'), 'utf8'),
      async startStandby() {
        const create = (copy: string, asOwner: SpawnOptions) => copyFiles(bin, folder, copy, asOwner)
        const standby = await startIn(bin, parent, { create, more, env })
        const promote = () => run(bin, 'pg_ctl', ['promote', '--wait', '-D', join(folderOf(standby), 'data')], as)
        return Object.assign(standby, { promote })
      },
      async stop() {
        await server.end()
        await rm(folder, { recursive: true, force: true })
      },
    }
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

const folderOf = ({ url }: Cluster) => new URL(url).searchParams.get('host')!

async function run(bin: string, program: string, args: string[], as: SpawnOptions): Promise<void> {
  await promisify(execFile)(join(bin, program), args, as)
}

/** Whether {@link startCluster} finds PostgreSQL. */
export function isInstalled(): boolean {
  return findBinaries() !== undefined
}

/** A placeholder host keeps it a valid URL for every parser; `pg` prefers the one of the query. */
function databaseUrl(folder: string, name: string): string {
  return `postgres://postgres@localhost:5432/${name}?host=${encodeURIComponent(folder)}`
}

function findBinaries(): string | undefined {
  const debian = '/usr/lib/postgresql'
  const versions = list(debian).sort((a, b) => Number(b) - Number(a))
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...versions.map((v) => join(debian, v, 'bin'))]
  const initdb = folders.map((folder) => join(folder, 'initdb')).find(isExecutable)
  // `initdb` may be a link, with `postgres` only next to its target.
  return initdb && dirname(realpathSync(initdb))
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The path of a unix socket is limited to about a hundred bytes. */
function shortened(folder: string): string {
  return folder.length < 60 ? folder : '/tmp'
}

/** PostgreSQL refuses to run as root: then another user owns the folder and runs the programs. */
function runAs(folder: string): SpawnOptions {
  // No PG* or LC_* variables of the environment: they would change the cluster from machine to machine.
  const options = { cwd: folder, env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' } }
  if (process.getuid?.() !== 0) return options

  const users = readFileSync('/etc/passwd', 'utf8')
  const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+):/m.exec(users) ?? /^nobody:[^:]*:(\d+):(\d+):/m.exec(users) ?? []
  if (!uid || !gid) throw new Error('PostgreSQL does not run as root, and there is neither a postgres nor a nobody')
  chownSync(folder, Number(uid), Number(gid))
  return { ...options, uid: Number(uid), gid: Number(gid) }
}

async function createFiles(bin: string, folder: string, as: SpawnOptions): Promise<void> {
  const files = process.env[FILES]
  if (files) return void (await promisify(execFile)('cp', ['-a', files, join(folder, 'data')], as))
  const create = (...more: string[]) =>
    promisify(execFile)(
      join(bin, 'initdb'),
      ['-D', join(folder, 'data'), '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync', ...more],
      as,
    )
  try {
    await create('--locale-provider=icu', '--icu-locale=en-US')
  } catch (error) {
    if (!/icu|locale-provider/i.test(String((error as { stderr?: string }).stderr))) throw error
    console.log('PostgreSQL without ICU: a missing COLLATE "C" does not show')
    await create()
  }
}

/** Copies a running cluster, and has the copy follow it. */
async function copyFiles(bin: string, source: string, folder: string, as: SpawnOptions): Promise<void> {
  const from = ['-h', source, '-U', 'postgres', '--checkpoint=fast']
  await run(bin, 'pg_basebackup', [...from, '-D', join(folder, 'data'), '--write-recovery-conf', '--no-sync'], as)
}

/**
 * Waits for the end of its input: the pipe closes when the process at its other end closes it or dies, also by SIGKILL.
 * Then it stops the server, and removes the folder unless that process does.
 */
const KEEPER = `
folder=$1; shift
"$@" </dev/null &
server=$!
orders=$(cat)
kill -INT "$server" 2>/dev/null
wait "$server"
[ "$orders" = keep ] || { cd / && rm -rf "$folder"; }
`

interface Server {
  pid: number
  end(): Promise<void>
}

async function startServer(bin: string, folder: string, as: SpawnOptions, more: Settings): Promise<Server> {
  const settings = {
    listen_addresses: '',
    unix_socket_directories: folder,
    port: 5432,
    max_connections: 200,
    max_wal_size: '256MB',
    ...more,
  }
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const log = openSync(join(folder, 'log'), 'a')
  const keeper = spawn(
    'sh',
    ['-c', KEEPER, 'sh', folder, join(bin, 'postgres'), '-D', join(folder, 'data'), ...args],
    // In its own process group: Ctrl-C ends the tests, and this process then cleans up.
    { ...as, stdio: ['pipe', 'ignore', log], detached: true },
  )
  closeSync(log)
  // A test process that did not stop the server can still end; the pipe then closes.
  keeper.unref()
  const pipe = keeper.stdin as Socket
  pipe.unref()
  const exited = once(keeper, 'exit')
  const end = async () => {
    keeper.ref()
    pipe.end('keep')
    await exited
  }
  try {
    return { pid: await readyPid(join(folder, 'data', 'postmaster.pid')), end }
  } catch {
    await end()
    throw new Error(`PostgreSQL did not start:\n${await readFile(join(folder, 'log'), 'utf8')}`)
  }
}

/** PostgreSQL writes in the eighth line when it accepts connections; polling by connecting would log failures. */
async function readyPid(pidFile: string): Promise<number> {
  const deadline = Date.now() + 15_000
  while (Date.now() < deadline) {
    const lines = (await readFile(pidFile, 'utf8').catch(() => '')).split('\n')
    if (lines[7]?.startsWith('ready')) return Number(lines[0])
    await sleep(20)
  }
  throw new Error('not ready in time')
}
