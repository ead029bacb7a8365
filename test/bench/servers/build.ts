import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { progress } from '../report.ts'
import { ROOT } from './child.ts'

const BUILT = 'dist/cli/main.js'
const SOURCES = ['lib', 'cli', 'examples/web-chat']

/** The arguments that make Node run the service: what users run, built from the sources as they are. */
export function serviceCommand(): string[] {
  if (!isFresh()) build()
  if (isFresh()) return [BUILT]
  progress('dist/ cannot be built: running the sources through tsx, which is not what users run')
  return ['--import', 'tsx', 'cli/main.ts']
}

/** As {@link serviceCommand}, of the build in another checkout. @throws Error with a message for the user if there is none */
export function otherCommand(folder: string): string[] {
  const built = resolve(folder, BUILT)
  if (!existsSync(built)) throw new Error(`--against takes a checkout that is built: there is no ${built}`)
  return [built]
}

function isFresh(): boolean {
  const built = modifiedAt(BUILT)
  return SOURCES.every((folder) => sourceFiles(folder).every((file) => modifiedAt(file) <= built))
}

function build(): void {
  progress('building dist/ …')
  spawnSync(process.execPath, ['.ci/build.mjs'], { cwd: ROOT, stdio: 'ignore' })
}

function sourceFiles(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:tsx?|css)$/.test(name))
    .map((name) => join(folder, name))
}

/** 0 for a file that is not there: older than everything. */
function modifiedAt(path: string): number {
  return statSync(join(ROOT, path), { throwIfNoEntry: false })?.mtimeMs ?? 0
}
