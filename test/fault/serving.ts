import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { programArgs } from '../support/programs.ts'

/** Limits that allow the load of a test, as environment variables. */
const UNLIMITED = {
  CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4',
  CHAT_RATE_LIMITS__DEFAULT_RPS: '0',
  CHAT_RATE_LIMITS__AUTH_LOGIN_PER_IP_PER_MIN: '1000000',
  CHAT_SESSION__MAX_SESSIONS_PER_USER: 'false',
  CHAT_SSE__MAX_STREAMS_PER_USER: '10000',
}

/** `chat-server serve`, as operators run it. */
export interface ServeProcess {
  base_url: string
  port: number
  pid: number
  /** Its log so far. */
  log(): string
  /** Resolves with its exit code. */
  exit: Promise<number | null>
  signal(name: NodeJS.Signals): void
}

/** Starts `chat-server serve` on a free port. The caller must end it. */
export async function startServe(
  database: string,
  options: { env?: Record<string, string>; program?: string } = {},
): Promise<ServeProcess> {
  // Another program than that of this version.
  const program = options.program ? [options.program] : programArgs('cli/main.ts')
  const args = [...program, 'serve', '--port', '0', '--json', '--database', database]
  const child = spawn(process.execPath, args, { env: { PATH: process.env.PATH, ...UNLIMITED, ...options.env } })
  const exit = once(child, 'exit').then(([code]) => code as number | null)
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    log += text
  })
  for await (const line of createInterface({ input: child.stdout })) {
    const port = Number(/"url":"http:[^"]+:(\d+)"/.exec(line)?.[1])
    if (!port) continue
    const signal = (name: NodeJS.Signals) => void child.kill(name)
    return { base_url: `http://127.0.0.1:${port}`, port, pid: child.pid!, log: () => log, exit, signal }
  }
  throw new Error(`The service did not start:\n${log}`)
}
