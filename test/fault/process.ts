import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { programArgs } from '../support/programs.ts'

/** A service in its own process. */
export interface ServerProcess {
  base_url: string
  port: number
  /** A value of `/metrics`. */
  metric(name: string): Promise<number>
  /** Sends it a signal. */
  signal(name: NodeJS.Signals): void
  /** Kills it. Resolves when it has ended. */
  kill(): Promise<void>
}

/** Starts a service on a database; it ends with this process at the latest. With a file for `effects` it has tools. */
export async function startProcess(
  database: string,
  options: { port?: number; config?: object; seconds_ahead?: number; effects?: string } = {},
): Promise<ServerProcess> {
  const { port: wanted = 0, config = {}, seconds_ahead = 0, effects } = options
  const args = [database, String(wanted), JSON.stringify(config), String(seconds_ahead), ...(effects ? [effects] : [])]
  const child = spawn(process.execPath, [...programArgs('test/fault/server.ts'), ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH },
  })
  const { port } = await firstLine(child)
  const base_url = `http://127.0.0.1:${port}`
  return {
    base_url,
    port,
    async metric(name) {
      const page = await (await fetch(`${base_url}/metrics`)).text()
      return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(page)![1])
    },
    signal: (name) => void child.kill(name),
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    },
  }
}

async function firstLine(child: ChildProcess): Promise<{ port: number }> {
  let errors = ''
  child.stderr!.setEncoding('utf8').on('data', (text) => {
    errors += text
  })
  for await (const line of createInterface({ input: child.stdout! })) return JSON.parse(line)
  throw new Error(`The service did not start:\n${errors}`)
}
