import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** A message broker of one of the examples. */
export interface BusServer {
  /** Where its clients find it. */
  url: string
  /** Kills it; it forgets its clients. */
  kill(): Promise<void>
  /** Starts it again after `kill`, at the same address. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** The brokers, by the folder of their example; without a program it is not installed. */
export const BUS_SERVERS = {
  'bus-nats': { program: findProgram(['nats-server']), start: startNats },
  'bus-valkey': { program: findProgram(['valkey-server', 'redis-server']), start: startValkey },
} as const

export type BusExample = keyof typeof BUS_SERVERS

/** Starts a broker on an address of its own. */
export function startBusServer(name: BusExample): Promise<BusServer> {
  const { program, start } = BUS_SERVERS[name]
  return start(program!)
}

/** The first of these programs that is installed. */
export function findProgram(names: string[]): string | undefined {
  return names.find((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).error === undefined)
}

async function startNats(program: string): Promise<BusServer> {
  const run = async (port: string) => {
    const child = spawn(program, ['-a', '127.0.0.1', '-p', port], { stdio: ['ignore', 'ignore', 'pipe'] })
    const [, chosen] = await lineOf(child, child.stderr!, /client connections on 127\.0\.0\.1:(\d+)/)
    return { child, port: chosen! }
  }
  const { child: first, port } = await run('-1')
  let child = first
  const kill = () => end(child)
  const restart = async () => {
    child = (await run(port)).child
  }
  return { url: `nats://127.0.0.1:${port}`, kill, restart, stop: kill }
}

async function startValkey(program: string): Promise<BusServer> {
  const folder = await mkdtemp(join(tmpdir(), 'chat-valkey-'))
  const url = join(folder, 'socket')
  const options = ['--port', '0', '--unixsocket', url, '--dir', folder, '--save', '', '--appendonly', 'no']
  const run = async () => {
    const child = spawn(program, options, { stdio: ['ignore', 'pipe', 'ignore'] })
    await lineOf(child, child.stdout!, /ready to accept connections/i)
    return child
  }
  let child = await run()
  const kill = () => end(child)
  const restart = async () => {
    child = await run()
  }
  const stop = async () => {
    await kill()
    await rm(folder, { recursive: true, force: true })
  }
  return { url, kill, restart, stop }
}

async function lineOf(child: ChildProcess, output: NodeJS.ReadableStream, pattern: RegExp): Promise<RegExpExecArray> {
  const lines: string[] = []
  for await (const line of createInterface({ input: output })) {
    const found = pattern.exec(line)
    lines.push(line)
    // Nothing reads the rest: it must not fill the pipe.
    if (found) output.resume()
    if (found) return found
  }
  throw new Error(`${child.spawnfile} did not start:\n${lines.join('\n')}`)
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}
