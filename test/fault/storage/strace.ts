import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { waitUntil } from './load.ts'

/** Why faults cannot be injected into system calls here, if they cannot. */
export function whyNoStrace(): string | undefined {
  const { status } = spawnSync('strace', ['-qq', '-e', 'trace=none', 'true'])
  return status === 0 ? undefined : 'strace is not installed, or may not trace'
}

/**
 * Attaches strace to a process.
 *
 * @param args what to trace, what to inject, and the output
 * @returns a function that detaches it, once nothing is traced any more
 */
export async function attach(pid: number, args: string[]): Promise<() => Promise<void>> {
  const tracer = spawn('strace', ['-p', String(pid), ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  tracer.stderr.setEncoding('utf8').on('data', (text) => {
    said += text
  })
  const gone = once(tracer, 'close')
  await waitUntil('strace is attached', () => {
    if (tracer.exitCode !== null) throw new Error(`strace: ${said}`)
    return said.split('attached').length > args.filter((arg) => arg === '-p').length + 1
  })
  return async () => {
    tracer.kill('SIGINT')
    await gone
  }
}

/** Makes system calls of a process fail, on these files only. @returns a function that ends that */
export function inject(pid: number, calls: string, how: string, ...files: string[]): Promise<() => Promise<void>> {
  return attach(pid, [
    ...files.flatMap((file) => ['-P', file]),
    '-e',
    `trace=${calls}`,
    '-e',
    `inject=${calls}:${how}`,
    '-o',
    '/dev/null',
  ])
}
