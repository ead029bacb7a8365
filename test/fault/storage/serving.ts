import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { programArgs } from '../../support/programs.ts'

const ENV = {
  PATH: process.env.PATH,
  CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4',
  CHAT_RATE_LIMITS__DEFAULT_RPS: '0',
  CHAT_RATE_LIMITS__AUTH_LOGIN_PER_IP_PER_MIN: '1000000',
}

/** A running `chat-server serve`. */
export interface Serving {
  base_url: string
  port: number
  pid: number
  isAlive(): boolean
  /** Its log so far. */
  log(): string
  /** Its log stays in the pipe, as at a collector that hangs. */
  stopReading(): void
  /** Sends SIGTERM, as a supervisor does. @returns its exit code */
  stop(): Promise<number | null>
  /** Kills it. */
  kill(): Promise<void>
}

/** A `chat-server serve` that ended instead of listening. */
export interface Refusal {
  code: number | null
  signal: string | null
  log: string
}

/** Starts `chat-server serve` on a database, with more in its environment. It ends with this process at the latest. */
export async function tryServe(
  database: string,
  port = 0,
  more: Record<string, string> = {},
): Promise<Serving | Refusal> {
  const args = [...programArgs('cli/main.ts'), 'serve', '--json', '--port', String(port), '--database', database]
  const child = spawn(process.execPath, args, {
    cwd: tmpdir(),
    env: { ...ENV, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const onExit = () => void child.kill('SIGKILL')
  process.once('exit', onExit)
  const gone = once(child, 'close').finally(() => process.off('exit', onExit))
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    log += text
  })
  const greeting = await Promise.race([once(child.stdout.setEncoding('utf8'), 'data'), gone.then(() => undefined)])
  // Under --json a failure is a document, too.
  const listening = JSON.parse(String(greeting?.[0] ?? '{}')) as { url?: string }
  if (!listening.url) {
    await gone
    return { code: child.exitCode, signal: child.signalCode, log }
  }
  return {
    base_url: listening.url,
    port: Number(new URL(listening.url).port),
    pid: child.pid!,
    isAlive: () => isAlive(child),
    log: () => log,
    stopReading: () => void child.stderr.pause(),
    async stop() {
      child.kill('SIGTERM')
      await gone
      return child.exitCode
    },
    async kill() {
      child.kill('SIGKILL')
      await gone
    },
  }
}

/** The same, if it must start. */
export async function serve(database: string, port = 0, more: Record<string, string> = {}): Promise<Serving> {
  const started = await tryServe(database, port, more)
  if ('base_url' in started) return started
  throw new Error(`It ended with ${started.code ?? started.signal}:\n${started.log}`)
}

function isAlive(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null
}
