/**
 * The packages of parts that are packages of their own. Run as a program, it installs those of all that `npm run test:all` runs:
 * `.ci/run` does so while a compiler is at work.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PACKAGES, PARTS } from './parts.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Installs the packages of a folder unless they are there as its lockfile has them. @returns whether they are there */
export function installPackages(folder: string): boolean {
  const [wanted, present] = ['package-lock.json', 'node_modules/.package-lock.json'].map((file) =>
    join(ROOT, folder, file),
  )
  if (existsSync(present!) && statSync(present!).mtimeMs >= statSync(wanted!).mtimeMs) return true
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--prefix', folder], {
    cwd: ROOT,
    stdio: 'inherit',
  })
  return status === 0
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const [part, folder] of Object.entries(PACKAGES)) if (part in PARTS) installPackages(folder)
