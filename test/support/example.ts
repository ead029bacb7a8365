import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished } from 'vitest'

/** The folder of the project. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** An example that runs in its own process. */
export interface Running {
  /** Waits until it has printed a matching text. */
  printed(pattern: RegExp): Promise<string>
  /** All it has printed so far. */
  output(): string
  /** Its exit code, once it has ended. */
  end: Promise<number | null>
  /** Sends SIGTERM, as a supervisor does. */
  stop(): Promise<number | null>
}

/** Runs an example as its first comment describes; output on standard error fails the test. */
export function start(example: string, ...args: string[]): Running {
  const child: ChildProcessByStdio<null, Readable, Readable> = spawn(
    process.execPath,
    ['--import', 'tsx', resolve(ROOT, 'examples', example), ...args],
    { cwd: ROOT, env: { PATH: process.env.PATH, PORT: '0', NODE_NO_WARNINGS: '1' }, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  onTestFinished(() => void child.kill('SIGKILL'))
  let [output, errors] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text
  })
  const end = once(child, 'close').then(([code]) => {
    // On a busy machine the service reports slow requests.
    expect(errors.replaceAll(/^request \{\n[^}]*\bstatus: 2\d\d,[^}]*\}\n/gm, '')).toBe('')
    return code as number | null
  })
  return {
    async printed(pattern) {
      for (;;) {
        const found = pattern.exec(output.slice(0, output.lastIndexOf('\n') + 1))?.[0]
        if (found) return found
        const code = await Promise.race([once(child.stdout, 'data'), end])
        if (typeof code === 'number') throw new Error(`${example} ended with ${code}: ${output}`)
      }
    },
    output: () => output,
    end,
    stop() {
      child.kill('SIGTERM')
      return end
    },
  }
}
