import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './project.ts'
import { apiTypes } from './types.ts'

// `.ci/build-api.mjs` runs this. Each file is whole at any time, and one that stays as it was is left alone: a compiler, an editor or
// a second build may read them now.
const OUT = 'lib/api'
const files = await apiTypes()
mkdirSync(join(ROOT, OUT), { recursive: true })
for (const [name, text] of Object.entries(files)) {
  const path = join(ROOT, name)
  if (existsSync(path) && readFileSync(path, 'utf8') === text) continue
  const part = `${path}.${process.pid}`
  writeFileSync(part, text)
  renameSync(part, path)
}
const old = readdirSync(join(ROOT, OUT)).filter((name) => name.endsWith('.ts') && !files[`${OUT}/${name}`])
for (const name of old) rmSync(join(ROOT, OUT, name), { force: true })
