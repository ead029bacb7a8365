import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { onTestFinished } from 'vitest'

const PROGRAM = fileURLToPath(new URL('./program.ts', import.meta.url))
const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href

/** Runs `program.ts` to its end, as a process of its own. @returns what it wrote, or what it was killed by */
export async function runProcess(...args: string[]): Promise<{ signal: string | null; output: string }> {
  const child = spawn(process.execPath, ['--no-warnings', '--import', TSX, PROGRAM, ...args])
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
