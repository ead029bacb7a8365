import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { progress } from '../report.ts'

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

const ADDRESS = /http:\/\/(?:127\.0\.0\.1|localhost):(\d+)/

const START_TIMEOUT_MS = 20_000

/** What a server may take to end by itself before it is killed. */
const STOP_TIMEOUT_MS = 5_000

/** Kept of a server's output, to say why it ended. */
const OUTPUT_KEPT = 2_000

/** A server in a process of its own, listening on a port it chose. */
export interface Server {
  pid: number
  port: number
  stop(): Promise<void>
}

/** What has to go however the run ends: processes, then their folders. */
const running = new Set<ChildProcess>()
const folders = new Set<string>()

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'chat-bench-'))
  folders.add(folder)
  return folder
}

/** For the end of this process, whatever ends it. */
export function stopEverything(): void {
  for (const child of running) child.kill('SIGKILL')
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
}

/** Starts `node ...args` and waits until it prints its address. */
export async function startServer(args: string[], environment: NodeJS.ProcessEnv = {}): Promise<Server> {
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, NO_COLOR: '1', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  let stopping = false
  let output = ''
  const ended = new Promise<void>((resolve) => {
    child.once('close', (code) => {
      running.delete(child)
      // Its clients only see that connections break: the reason is in what it wrote last.
      if (!stopping) progress(`node ${args.join(' ')} ended with ${code}\n${output}`)
      resolve()
    })
  })
  const stop = () => {
    stopping = true
    return stopChild(child, ended)
  }
  const listening = new Promise<number>((resolve) => {
    const read = (chunk: Buffer) => {
      output = (output + chunk).slice(-OUTPUT_KEPT)
      const address = ADDRESS.exec(output)
      if (address) resolve(Number(address[1]))
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
  })
  const port = await Promise.race([listening, ended, sleep(START_TIMEOUT_MS, undefined, { ref: false })])
  if (port) return { pid: child.pid!, port, stop }
  await stop()
  throw new Error(`node ${args.join(' ')} did not start`)
}

async function stopChild(child: ChildProcess, ended: Promise<void>): Promise<void> {
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
  child.kill('SIGTERM')
  await ended
  clearTimeout(timer)
}
