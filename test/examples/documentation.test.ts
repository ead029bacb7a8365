import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { ROOT } from '../support/example.ts'
import { filesBelow, listPages, textOf } from '../support/pages.ts'

// The code of the pages is compiled against the published types.
beforeAll(async () => {
  const newest = Math.max(...['lib', 'cli'].flatMap(filesBelow).map(modifiedAt))
  if (modifiedAt('dist/lib/index.js') > newest) return
  // `npm run types` reports type errors; the build succeeds in spite of them.
  await compile(ROOT)
}, 120_000)

it('the documentation shows code that compiles', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'chat-docs-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  // Pages for contributors show internals, which other packages cannot import. The page of frameworks shows examples
  // that are compiled in their own package.
  for (const page of listPages().filter((path) => !/contributing|frameworks/.test(path))) {
    const blocks = [...textOf(page).matchAll(/^```ts\n(.*?)^```/gms)].map(([, code]) => code!)
    const name = page.replaceAll(sep, '-')
    await Promise.all(blocks.map((code, index) => writeFile(join(folder, `${name}-${index}.ts`), toModule(code))))
  }
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG))
  expect(await compile(folder)).toBe('')
}, 120_000)

/** The declarations that the code of a page may use. */
const GIVEN = `
declare const chat: import('chat-server').Chat
declare const actor: import('chat-server').Actor
declare const client: import('chat-server/client').ChatClient
declare const conversation_id: string
declare const root_id: string
declare const message_id: string
declare const user_id: string
`

const TSCONFIG = {
  extends: join(ROOT, 'tsconfig.json'),
  compilerOptions: {
    noEmit: true,
    rootDir: '.',
    paths: {
      'chat-server': [join(ROOT, 'dist/lib/index.d.ts')],
      'chat-server/h3': [join(ROOT, 'dist/lib/http/index.d.ts')],
      'chat-server/client': [join(ROOT, 'dist/lib/client/index.d.ts')],
      'chat-server/client/admin': [join(ROOT, 'dist/lib/client/admin.d.ts')],
      'chat-server/client/store': [join(ROOT, 'dist/lib/client/store/index.d.ts')],
      'chat-server/client/parts': [join(ROOT, 'dist/lib/client/store/parts.d.ts')],
      'chat-server/client/ai': [join(ROOT, 'dist/lib/client/ai/index.d.ts')],
      'chat-server/react': [join(ROOT, 'dist/lib/client/react/index.d.ts')],
      'chat-server/chat-sdk': [join(ROOT, 'dist/lib/chat-sdk/index.d.ts')],
      'chat-server/receive': [join(ROOT, 'dist/lib/receive/index.d.ts')],
      'chat-server/web': [join(ROOT, 'dist/lib/web/index.d.ts')],
      'chat-server/testing': [join(ROOT, 'dist/lib/testing/index.d.ts')],
    },
  },
  include: ['*.ts'],
}

/** A block as its own module: its declarations hide the given ones. */
function toModule(code: string): string {
  const isImport = (line: string) => line.startsWith('import ')
  const [imports, rest] = [isImport, (line: string) => !isImport(line)].map((keep) => code.split('\n').filter(keep))
  return [...imports!, GIVEN, 'export async function run() {', ...rest!, '}'].join('\n')
}

/** @returns the errors of the compiler */
async function compile(folder: string): Promise<string> {
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
  const run = promisify(execFile)(process.execPath, [compiler, '-p', folder], { cwd: ROOT })
  const { stdout } = await run.catch((error: { stdout: string }) => error)
  return stdout
}

function modifiedAt(path: string): number {
  return statSync(join(ROOT, path), { throwIfNoEntry: false })?.mtimeMs ?? 0
}
