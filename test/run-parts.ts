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
import { existsSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ON_DEMAND, PACKAGES, PARTS, PLACED, TWO_NODES } from './parts.ts'
import { pgbouncer } from './support/pgbouncer.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

const isOption = (argument: string) => argument.startsWith('-')
const named = process.argv.slice(2).filter((argument) => !isOption(argument))
const known = [...Object.keys(PARTS), ...Object.keys(TWO_NODES), ...Object.keys(PLACED), ...Object.keys(ON_DEMAND)]
const unknown = named.filter((name) => !known.includes(name))
if (unknown.length > 0) throw new Error(`No such part: ${unknown.join(', ')}. There are ${known.join(', ')}`)

const parts = (named.length > 0 ? named : [...Object.keys(PARTS), 'two-nodes', 'prefix', 'schema', 'pooled']).filter(
  isInstalled,
)
const compiled = parts.filter((part) => part in PACKAGES).map((part) => compile(PACKAGES[part]!))
const tested = parts.length > 0 ? vitest(parts, process.argv.slice(2).filter(isOption)) : 0
process.exitCode = Math.max(...compiled, tested)

/** Installs the packages of a part unless they are there as its lockfile has them. @returns whether it can run */
function isInstalled(part: string): boolean {
  if (part.startsWith('pooled') && !pgbouncer) {
    console.log(`${part} tests skipped: PgBouncer is not installed`)
    return false
  }
  const folder = PACKAGES[part]
  if (!folder) return true
  const [wanted, present] = ['package-lock.json', 'node_modules/.package-lock.json'].map((file) =>
    join(ROOT, folder, file),
  )
  if (existsSync(present!) && statSync(present!).mtimeMs >= statSync(wanted!).mtimeMs) return true
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--prefix', folder], {
    cwd: ROOT,
    stdio: 'inherit',
  })
  if (status !== 0) console.log(`${part} tests skipped: the packages of ${folder} cannot be installed`)
  return status === 0
}

/** Of the types of a package of its own, which `npm run types` leaves out. */
function compile(folder: string): number {
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
  return spawnSync(process.execPath, [compiler, '-p', folder], { cwd: ROOT, stdio: 'inherit' }).status ?? 1
}

function vitest(projects: string[], options: string[]): number {
  const command = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')
  const selected = projects.map((name) => `--project=${name}`)
  const args = [command, 'run', '--config', 'test/vitest.config.ts', ...selected, ...options]
  return spawnSync(process.execPath, args, { cwd: ROOT, stdio: 'inherit' }).status ?? 1
}
