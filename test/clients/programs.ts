import { execFile, execFileSync } from 'node:child_process'
import { promisify } from 'node:util'

/** How a message begins that is no failure of the client: what makes it is not here. */
export const UNAVAILABLE = 'skipped: this needs '

/** Compiling all of a Rust client's dependencies takes minutes. */
export const TIMEOUT_MS = 900_000

/** Whether a program is installed. */
export function hasProgram(name: string): boolean {
  try {
    execFileSync('which', [name], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Runs a program; what it prints is the result. */
export async function run(
  command: string,
  args: string[],
  cwd: string,
  env: Record<string, string> = {},
  timeout = TIMEOUT_MS,
): Promise<string> {
  const options = { cwd, env: { ...process.env, ...env }, timeout, maxBuffer: 1 << 28 }
  return (await promisify(execFile)(command, args, options)).stdout
}

/** A network may also not answer at all. */
const FETCHING_TIMEOUT_MS = 180_000

/** Runs a program that fetches packages; without them there is nothing to test. */
export async function fetching(what: string, command: string, args: string[], cwd: string): Promise<string> {
  try {
    return await run(command, args, cwd, {}, FETCHING_TIMEOUT_MS)
  } catch (error) {
    throw new Error(`${UNAVAILABLE}${what} (${lines(error)[0]})`)
  }
}

/** What a failed attempt shows: the first lines of what its program has printed. */
export function failureOf(error: unknown): string {
  return lines(error).slice(0, 20).join('\n')
}

function lines(error: unknown): string[] {
  const { message, stdout = '' } = error as Error & { stdout?: string }
  return `${message}\n${stdout}`.split('\n').filter((line) => line.trim() !== '')
}
