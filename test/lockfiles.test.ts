import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from './support/example.ts'
import { textOf } from './support/pages.ts'

interface LockedPackage {
  link?: true
  inBundle?: true
  integrity?: string
  resolved?: string
}

/**
 * Builds of 2.0.0 for platforms whose archives could not be read when the lockfile was made. `npm run release:check` refuses a
 * release until it has their digests; another version of the package needs no such list.
 */
const WITHOUT_INTEGRITY = /^node_modules\/@node-rs\/bcrypt-(android|darwin|freebsd|linux|win32)-[\w-]+$/

const FOLDERS = [
  '.',
  ...['examples', 'test'].flatMap((parent) => readdirSync(join(ROOT, parent)).map((name) => join(parent, name))),
]
const LOCKFILES = FOLDERS.map((folder) => join(folder, 'package-lock.json')).filter((path) =>
  existsSync(join(ROOT, path)),
)

describe.each(LOCKFILES)('%s', (path) => {
  const { packages } = JSON.parse(textOf(path)) as { packages: Record<string, LockedPackage> }
  const locked = Object.entries(packages).filter(([name, { link, inBundle }]) => name !== '' && !link && !inBundle)

  it('proves the archive of every package by its digest', () => {
    const unproven = locked.filter(([name, { integrity }]) => {
      if (path === 'package-lock.json' && WITHOUT_INTEGRITY.test(name)) return false
      return !/^sha512-[\w+/]{86}==$/.test(integrity ?? '')
    })
    expect(unproven.map(([name]) => name)).toEqual([])
    expect(locked.length).toBeGreaterThan(0)
  })

  it('names no registry, so that each user has their own', () => {
    expect(locked.filter(([, { resolved }]) => resolved).map(([name]) => name)).toEqual([])
  })
})
