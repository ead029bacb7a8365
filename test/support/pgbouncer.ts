import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
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

/**
 * Starts a PgBouncer with two connections to the server at `url`, on a unix socket of its own.
 *
 * @param keeps how many connections it has instead, which it keeps; by default it closes each after its use
 * @returns the same URL through PgBouncer, its socket, and a function that stops it
 */
export async function startPgBouncer(url: string, mode: 'transaction' | 'session', keeps?: number) {
  const { searchParams } = new URL(url)
  const folder = await mkdtemp('/tmp/chat-pgb-')
  const settings = join(folder, 'pgbouncer.ini')
  writeFileSync(
    settings,
    `[databases]
* = host=${searchParams.get('host')} port=5432 user=postgres
[pgbouncer]
listen_addr =
listen_port = 5432
unix_socket_dir = ${folder}
auth_type = any
pool_mode = ${mode}
default_pool_size = ${keeps ?? (mode === 'session' ? 20 : 2)}
server_lifetime = ${keeps ? 3600 : 0}
`,
  )
  const child = spawn(pgbouncer!, ['-q', settings], { ...asSomebody(folder), stdio: 'ignore' })
  const exited = once(child, 'exit')
  const socket = join(folder, '.s.PGSQL.5432')
  while (child.exitCode === null && !(await answers(socket))) await sleep(20)
  const through = new URL(url)
  through.searchParams.set('host', folder)
  return {
    url: through.href,
    socket,
    async stop() {
      child.kill('SIGTERM')
      await exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** PgBouncer refuses to run as root; it runs as the user of the tests' cluster, to reach its socket. */
function asSomebody(folder: string): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const users = readFileSync('/etc/passwd', 'utf8')
  const [, uid, gid] = (/^postgres:[^:]*:(\d+):(\d+):/m.exec(users) ?? /^nobody:[^:]*:(\d+):(\d+):/m.exec(users))!
  chownSync(folder, Number(uid), Number(gid))
  return { uid: Number(uid), gid: Number(gid) }
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
