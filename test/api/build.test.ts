import { writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { ROOT } from '../../.ci/api/project.ts'
import { apiTypes } from '../../.ci/api/types.ts'

const { buildApi } = await import(new URL('../../.ci/build-api.mjs', import.meta.url).href)

it('has built lib/api before the tests run: what the generator makes, and nothing else', async () => {
  const names = (await readdir(join(ROOT, 'lib/api'))).filter((name) => name.endsWith('.ts'))
  const texts = names.map(async (name) => [`lib/api/${name}`, await readFile(join(ROOT, 'lib/api', name), 'utf8')])
  expect(Object.fromEntries(await Promise.all(texts))).toEqual(await apiTypes())
})

it('builds where a source or a built file has changed, appeared or been deleted, and only then', async () => {
  const root = await mkdtemp(join(tmpdir(), 'build-api-'))
  onTestFinished(() => rm(root, { recursive: true }))
  const path = (name: string) => join(root, name)
  for (const folder of ['.ci/api', 'lib/api', 'lib/chat']) await mkdir(path(folder), { recursive: true })
  for (const name of ['.biome.json', '.ci/api/write.ts', 'lib/chat/schema.ts']) await writeFile(path(name), 'one')
  const write = () => writeFileSync(path('lib/api/chat.ts'), 'types')

  const changes: Record<string, () => Promise<unknown>> = {
    'a clone has none': async () => {},
    'a schema is edited': () => writeFile(path('lib/chat/schema.ts'), 'second'),
    'a schema is from another branch, and older': () => utimes(path('lib/chat/schema.ts'), 1, 1),
    'a use-case is added': () => writeFile(path('lib/chat/service.ts'), ''),
    'a use-case is deleted': () => rm(path('lib/chat/service.ts')),
    'the generator is edited': () => writeFile(path('.ci/api/write.ts'), 'second'),
    'a built file is deleted': () => rm(path('lib/api/chat.ts')),
    'a built file is edited by hand': () => writeFile(path('lib/api/chat.ts'), 'other types'),
    'the last build was interrupted': () => rm(path('lib/api/.stamp')),
  }
  for (const [title, change] of Object.entries(changes)) {
    await change()
    expect([buildApi(root, write), buildApi(root, write)], title).toEqual([true, false])
    expect(await readFile(path('lib/api/chat.ts'), 'utf8'), title).toBe('types')
  }
  await writeFile(path('lib/chat/schema.ts'), 'with an error')
  const fail = () => {
    throw new Error('no type is known')
  }
  expect(() => buildApi(root, fail)).toThrow('no type is known')
  expect(buildApi(root, write), 'after a failure').toBe(true)
})
