import { spawnSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
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
