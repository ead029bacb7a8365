import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import openapiTS, { astToString } from 'openapi-typescript'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parseConfig } from '../../lib/config/parse.ts'
import { openApiDocument } from '../../lib/http/openapi/build.ts'
import { startService } from '../support/service.ts'
import { redocly, spectral } from './linters.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const require = createRequire(import.meta.url)
const openApi = openApiDocument(parseConfig())

/** A document with a fault in it that each linter knows, and little else to look at. */
const FAULTY = {
  ...openApi,
  ...{ tags: [], paths: {}, webhooks: {}, components: {} },
  info: { title: 'chat-server', version: '1', license: { name: 'MIT' } },
}

describe.each([
  ['Spectral', spectral, 'info-contact'],
  ['Redocly', redocly, 'info-license-strict'],
])('%s', (_, lint, rule) => {
  it('finds no problem in the OpenAPI document, not even a warning', async () => {
    expect(await lint(openApi)).toEqual([])
  }, 120_000)

  it('finds a problem in a broken document', async () => {
    expect((await lint(FAULTY)).join('\n')).toContain(rule)
  }, 120_000)
})

it('generates a client whose types compile, and which can be used', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'chat-openapi-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  // What has a default may be left out of a request.
  const types = await openapiTS(JSON.stringify(openApi), { defaultNonNullable: false })
  await writeFile(join(folder, 'openapi.ts'), astToString(types))
  await copyFile(new URL('happy-path.ts', import.meta.url), join(folder, 'happy-path.ts'))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG))
  await mkdir(join(folder, 'node_modules'))
  await symlink(join(require.resolve('openapi-fetch'), '../..'), join(folder, 'node_modules/openapi-fetch'))
  await symlink(join(ROOT, 'node_modules/@types'), join(folder, 'node_modules/@types'))

  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  expect(await run([tsc, '-p', folder])).toBe('')

  const service = await startService('sqlite::memory:')
  onTestFinished(() => service.close())
  const output = await run([join(folder, 'out/happy-path.js'), service.base_url])
  expect(output.trimEnd().split('\n')).toEqual([
    'set up before: false',
    'signed in: ada admin+member 36',
    'posted once: true true',
    'threads: Does it run?',
    'resumed: true',
    'arrived: It runs. true',
    'tree: 0 Does it run?, 1 It runs.',
    'edited: 204',
    'failure: 404 There is nothing here, or it is not yours to see.',
    'signed out: unauthenticated',
  ])
}, 180_000)

const TSCONFIG = {
  compilerOptions: {
    target: 'es2023',
    lib: ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable'],
    module: 'nodenext',
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noPropertyAccessFromIndexSignature: true,
    skipLibCheck: false,
    rewriteRelativeImportExtensions: true,
    outDir: 'out',
  },
}

/** @returns what a program has printed, whether it failed or not */
async function run(args: string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args).catch(
    (error: { stdout: string; stderr: string }) => error,
  )
  return stdout + stderr
}
