import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const BINARIES = [
  '/usr/sbin/pgbouncer',
  '/usr/bin/pgbouncer',
  '/usr/local/bin/pgbouncer',
  '/opt/homebrew/bin/pgbouncer',
]

/** The path of PgBouncer, if it is installed. */
export const pgbouncer = BINARIES.find(existsSync)

/** Newer versions carry names of prepared statements by default: the tests are to be the same with each. */
function withoutNames(): Record<string, number> {
  const [, minor] = /\b1\.(\d+)\./.exec(execFileSync(pgbouncer!, ['--version'], { encoding: 'utf8' }))!
  return Number(minor) >= 21 ? { max_prepared_statements: 0 } : {}
}

/** Ends PgBouncer with the end of its input: the pipe closes when this process closes it or dies, also by SIGKILL. */
const KEEPER = `
folder=$1; shift
"$@" </dev/null &
pooler=$!
cat >/dev/null
kill -TERM "$pooler" 2>/dev/null
wait "$pooler"
rm -rf "$folder"
`

/**
 * Starts a PgBouncer with two connections to the server at `url`, on a unix socket of its own.
 *
 * @param keeps how many connections it has instead, which it keeps; by default it closes each after its use
 * @param more settings of `pgbouncer.ini`
 * @returns the same URL through PgBouncer, its socket, and a function that stops it
 */
export async function startPgBouncer(
  url: string,
  mode: 'transaction' | 'session',
  keeps?: number,
  more: Record<string, number> = {},
) {
  const { searchParams } = new URL(url)
  const folder = await mkdtemp('/tmp/chat-pgb-')
  const file = join(folder, 'pgbouncer.ini')
  const settings = {
    listen_addr: '',
    listen_port: 5432,
    unix_socket_dir: folder,
    auth_type: 'any',
    pool_mode: mode,
    default_pool_size: keeps ?? (mode === 'session' ? 20 : 2),
    server_lifetime: keeps ? 3600 : 0,
    ...withoutNames(),
    ...more,
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  writeFileSync(
    file,
    `[databases]\n* = host=${searchParams.get('host')} port=5432 user=postgres\n[pgbouncer]\n${lines.join('\n')}\n`,
  )
  // In its own process group: Ctrl-C ends the tests, and this process then cleans up.
  const child = spawn('sh', ['-c', KEEPER, 'sh', folder, pgbouncer!, '-q', file], {
    ...asSomebody(folder),
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  // A test process that did not stop it can still end; the pipe then closes.
  child.unref()
  const pipe = child.stdin as Socket
  pipe.unref()
  const exited = once(child, 'exit')
  const stop = async () => {
    child.ref()
    pipe.end()
    await exited
  }
  const socket = join(folder, '.s.PGSQL.5432')
  if (!(await isReady(socket))) {
    await stop()
    throw new Error('PgBouncer did not start')
  }
  const through = new URL(url)
  through.searchParams.set('host', folder)
  return { url: through.href, socket, stop }
}

/** PgBouncer refuses to run as root; it runs as the user of the tests' cluster, to reach its socket. */
function asSomebody(folder: string): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const users = readFileSync('/etc/passwd', 'utf8')
  const [, uid, gid] = (/^postgres:[^:]*:(\d+):(\d+):/m.exec(users) ?? /^nobody:[^:]*:(\d+):(\d+):/m.exec(users))!
  chownSync(folder, Number(uid), Number(gid))
  return { uid: Number(uid), gid: Number(gid) }
}

async function isReady(socket: string): Promise<boolean> {
  const deadline = Date.now() + 15_000
  while (Date.now() < deadline) {
    if (await answers(socket)) return true
    await sleep(20)
  }
  return false
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
