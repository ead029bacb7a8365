import { spawn } from 'node:child_process'
import { onTestFinished } from 'vitest'
import { programArgs } from '../support/programs.ts'

/** Runs `program.ts` in its own process to its end. @returns its output, or the signal that killed it */
export async function runProcess(...args: string[]): Promise<{ signal: string | null; output: string }> {
  const child = spawn(process.execPath, ['--no-warnings', ...programArgs('test/storage/program.ts'), ...args])
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  }
  const signal = await new Promise<string | null>((resolve) => child.once('close', (_, signal) => resolve(signal)))
  return { signal, output: output.trim() }
}
