import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { programArgs } from '../support/programs.ts'

/** The exit code of a command, and its output. */
export interface Finished {
  code: number | null
  stdout: string
  stderr: string
}

/** The folder and environment of a command. It gets none of the tests' own environment. */
export interface RunOptions {
  cwd: string
  env?: Record<string, string>
  input?: string
  /** The program of Node, if it is not the one of the tests. */
  node?: string
  /** The user, if it is not the user of the tests. */
  uid?: number
  gid?: number
}

/** A new folder with these files, deleted after the test. */
export function folder(files: Record<string, string | Uint8Array> = {}): string {
  const path = mkdtempSync(join(tmpdir(), 'chat-server-cli-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(files)) writeFileSync(join(path, name), content)
  return path
}

/** The program and the arguments that run the command line. */
export function commandOf(args: string[]): string[] {
  return [process.execPath, ...programArgs('cli/main.ts'), ...args]
}

/** Starts the command line in its own process. The caller must end it. */
export function start(
  args: string[],
  { env = {}, input: _, node, ...where }: RunOptions,
): ChildProcessWithoutNullStreams {
  const [program, ...rest] = commandOf(args)
  const child = spawn(node ?? program!, rest, {
    ...where,
    env: { PATH: process.env.PATH, ...env },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

/** Runs a command to its end. */
export async function run(args: string[], options: RunOptions): Promise<Finished> {
  const child = start(args, options)
  child.stdin.on('error', () => {}).end(options.input ?? '')
  return finished(child)
}

/** The output of a running command until it ends. */
export async function finished(child: ChildProcessWithoutNullStreams): Promise<Finished> {
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text
  })
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, stdout, stderr }
}
