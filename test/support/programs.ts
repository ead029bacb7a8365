import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The variable of the environment that names the folder of the built programs. */
export const BUILT = 'TEST_PROGRAMS'

/** What tests start as processes of their own, by its path in the project. */
export const PROGRAMS = ['cli/main.ts', 'test/fault/server.ts', 'test/storage/program.ts'] as const

/** The arguments with which Node runs a program: as it was built for this run, or its source where vitest runs nothing. */
export function programArgs(program: (typeof PROGRAMS)[number]): string[] {
  const folder = process.env[BUILT]
  if (folder) return [join(folder, program.replace(/\.ts$/, '.mjs'))]
  return ['--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href, join(ROOT, program)]
}
