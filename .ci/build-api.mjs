// Builds lib/api, the types that hosts see, from the use-cases, routes and schemas (.ci/api). Its files are ignored by git, and made
// again once a file of lib, the generator or the formatter's configuration is another than when they were made. Before a compiler
// reads lib, this runs: a type import is erased where code runs, so the generator needs nothing of what it makes.
// Run as a program, it builds them, too.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const OUT = join('lib', 'api')
const SOURCES = ['lib', '.ci/api', '.biome.json']

/** What the files were made of, and how they were left: written last, so that an interrupted build is done again. */
const STAMP = join(OUT, '.stamp')

/** @returns whether there was something to build */
export function buildApi(root = ROOT, write = runGenerator) {
  // Taken before the sources are read: the next build reads what changes meanwhile.
  const sources = fingerprint(
    root,
    SOURCES.flatMap((path) => filesBelow(root, path)).filter((path) => !path.startsWith(OUT)),
  )
  const stamp = () => `${sources} ${fingerprint(root, filesBelow(root, OUT))}\n`
  const file = join(root, STAMP)
  if (existsSync(file) && readFileSync(file, 'utf8') === stamp()) return false
  write()
  writeFileSync(file, stamp())
  return true
}

function runGenerator() {
  const { status } = spawnSync(process.execPath, ['--import', 'tsx', '.ci/api/write.ts'], {
    cwd: ROOT,
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error('lib/api could not be built')
}

/** The TypeScript in a folder, or the file itself. */
function filesBelow(root, path) {
  const names = path.endsWith('.json') ? [''] : readdirSync(join(root, path), { recursive: true, encoding: 'utf8' })
  return names.map((name) => join(path, name)).filter((name) => /\.(tsx?|json)$/.test(name))
}

/** Changes with each file's path, size and time, also to an earlier one: a file of another branch may be older. */
function fingerprint(root, files) {
  const hash = createHash('sha256')
  for (const path of files.sort()) {
    // A build beside this one may delete a file of a feature that no longer exists.
    const { size, mtimeMs } = statSync(join(root, path), { throwIfNoEntry: false }) ?? {}
    hash.update(`${path} ${size} ${mtimeMs}\n`)
  }
  return hash.digest('hex')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) buildApi()
