/**
 * Runs what `npm test` leaves out, all parts or those named, in one run that shares what it sets up.
 *
 *   npm run test:all
 *   npm run test:fault -- --reporter=verbose      what begins with a dash is for vitest
 *
 * A part with packages of its own is skipped, with a line that says so, where they cannot be installed, and one behind
 * PgBouncer where that is not.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installPackages } from './install-packages.ts'
import { typesConfig } from './part-types.ts'
import { IN_FIREFOX, ON_DEMAND, PACKAGES, PARTS, PLACED, TWO_NODES } from './parts.ts'
import { pgbouncer } from './support/pgbouncer.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

const isOption = (argument: string) => argument.startsWith('-')
const named = process.argv.slice(2).filter((argument) => !isOption(argument))
const known = [PARTS, TWO_NODES, PLACED, IN_FIREFOX, ON_DEMAND].flatMap(Object.keys)
const unknown = named.filter((name) => !known.includes(name))
if (unknown.length > 0) throw new Error(`No such part: ${unknown.join(', ')}. There are ${known.join(', ')}`)

const parts = (named.length > 0 ? named : [...Object.keys(PARTS), 'two-nodes', 'prefix', 'schema', 'pooled']).filter(
  isInstalled,
)
const compiled = compile(parts.flatMap((part) => PACKAGES[part] ?? []))
const tested = parts.length > 0 ? vitest(parts, process.argv.slice(2).filter(isOption)) : 0
process.exitCode = Math.max(compiled, tested)

/** Installs the packages of a part. @returns whether it can run */
function isInstalled(part: string): boolean {
  if (part.startsWith('pooled') && !pgbouncer) {
    console.log(`${part} tests skipped: PgBouncer is not installed`)
    return false
  }
  const folder = PACKAGES[part]
  if (!folder) return true
  const isPresent = installPackages(folder)
  if (!isPresent) console.log(`${part} tests skipped: the packages of ${folder} cannot be installed`)
  return isPresent
}

/**
 * Compiles the types of packages of their own, which `npm run types` leaves out: together, as each of them needs most of this one. Their
 * `tsconfig.json` are for editors.
 */
function compile(folders: string[]): number {
  if (folders.length === 0) return 0
  const config = join(ROOT, 'node_modules', '.cache', 'parts', 'tsconfig.json')
  mkdirSync(dirname(config), { recursive: true })
  writeFileSync(config, JSON.stringify(typesConfig(folders)))
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
  return spawnSync(process.execPath, [compiler, '-p', config], { cwd: ROOT, stdio: 'inherit' }).status ?? 1
}

function vitest(projects: string[], options: string[]): number {
  const command = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')
  const selected = projects.map((name) => `--project=${name}`)
  // A test here has processes of its own, and waits less than those of `npm test`.
  const workers = `--maxWorkers=${Math.min(availableParallelism() * 2, 8)}`
  const args = [command, 'run', '--config', 'test/vitest.config.ts', workers, ...selected, ...options]
  return spawnSync(process.execPath, args, { cwd: ROOT, stdio: 'inherit' }).status ?? 1
}
