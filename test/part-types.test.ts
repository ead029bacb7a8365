import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { typesConfig } from './part-types.ts'
import { PACKAGES } from './parts.ts'
import { ROOT } from './support/example.ts'

type TypesConfig = ReturnType<typeof typesConfig>

/** What a package has for editors, with absolute paths. */
function readConfig(folder: string): TypesConfig {
  const absolute = (path: string) => resolve(ROOT, folder, path)
  const config = JSON.parse(readFileSync(join(ROOT, folder, 'tsconfig.json'), 'utf8')) as TypesConfig
  const { extends: base, compilerOptions, include, exclude, ...rest } = config
  return {
    ...rest,
    extends: absolute(base),
    compilerOptions: {
      ...compilerOptions,
      rootDir: join(absolute(compilerOptions.rootDir), '/'),
      typeRoots: compilerOptions.typeRoots.map(absolute),
    },
    include: include.map(absolute),
    exclude: exclude.map(absolute),
  }
}

describe.each(Object.values(PACKAGES))('the types of %s', (folder) => {
  it('are in an editor what the tests compile', () => {
    const { include, exclude, ...options } = readConfig(folder)
    const { include: compiled, exclude: leftOut, ...compilerOptions } = typesConfig([folder])
    expect(options).toEqual(compilerOptions)
    expect(include).toContain(join(ROOT, folder))
    expect(compiled).toEqual(expect.arrayContaining(include))
    expect([...leftOut, join(ROOT, folder, 'node_modules')]).toEqual(expect.arrayContaining(exclude))
  })
})
