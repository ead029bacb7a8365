import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The environment variable with the folder of the built programs. */
export const BUILT = 'TEST_PROGRAMS'

/** The programs that tests start as processes, by their path in the project. */
export const PROGRAMS = [
  'cli/main.ts',
  'test/chat-sdk/dying-bot.ts',
  'test/fault/receiving.ts',
  'test/fault/server.ts',
  'test/fault/sharing.ts',
  'test/storage/program.ts',
] as const

/** The arguments with which Node runs a program: its build of this run, or its source outside vitest. */
export function programArgs(program: (typeof PROGRAMS)[number]): string[] {
  const folder = process.env[BUILT]
  if (folder) return [join(folder, program.replace(/\.ts$/, '.mjs'))]
  return ['--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href, join(ROOT, program)]
}
