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

const START_POLL_MS = 5

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
export function startServer(args: string[], environment: NodeJS.ProcessEnv = {}): Promise<Server> {
  return startProgram(process.execPath, args, { NO_COLOR: '1', ...environment }, async (output) => {
    const address = ADDRESS.exec(output())
    return address ? Number(address[1]) : undefined
  })
}

/** @param portOf returns the port once the server listens on it; `output` is what the server has printed last */
export async function startProgram(
  program: string,
  args: string[],
  environment: NodeJS.ProcessEnv,
  portOf: (output: () => string) => Promise<number | undefined>,
): Promise<Server> {
  const child = spawn(program, args, {
    cwd: ROOT,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  let isRunning = true
  let stopping = false
  let output = ''
  const read = (chunk: Buffer) => {
    output = (output + chunk).slice(-OUTPUT_KEPT)
  }
  child.stdout.on('data', read)
  child.stderr.on('data', read)
  const ended = new Promise<void>((resolve) => {
    child.once('close', (code) => {
      running.delete(child)
      isRunning = false
      // Its clients only see that connections break: the reason is in what it wrote last.
      if (!stopping) progress(`${program} ${args.join(' ')} ended with ${code}\n${output}`)
      resolve()
    })
  })
  const stop = () => {
    stopping = true
    return stopChild(child, ended)
  }
  const end = performance.now() + START_TIMEOUT_MS
  while (isRunning && performance.now() < end) {
    const port = await portOf(() => output)
    if (port) return { pid: child.pid!, port, stop }
    await sleep(START_POLL_MS)
  }
  await stop()
  throw new Error(`${program} ${args.join(' ')} did not start`)
}

async function stopChild(child: ChildProcess, ended: Promise<void>): Promise<void> {
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
  child.kill('SIGTERM')
  await ended
  clearTimeout(timer)
}
