import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'

/** What a page downloads at most for an entry point, in bytes: bundled, minified and compressed. */
const MAX_BYTES: Record<string, number> = {
  'lib/client/index.ts': 7_400,
  'lib/client/store/index.ts': 11_000,
  'lib/client/store/parts.ts': 6_600,
  'lib/client/react/index.ts': 17_100,
}

/** What a page downloads at most that uses the hooks of conversations, threads and messages. */
const MAX_BYTES_OF_HOOKS = 11_800

describe.each(Object.entries(MAX_BYTES))('a bundle of %s', (entry, maximum) => {
  it(`has at most ${maximum} bytes, no package, no route and no endpoint of administrators`, async () => {
    const { code, inputs } = await bundle(entry)
    expect(inputs.filter((path) => !/^lib\/(client|core|react)\//.test(path))).toEqual([])
    expect(code).not.toMatch(/\/api\/admin|\/metrics|\/v1\//)
    expect(gzipSync(code, { level: 9 }).length).toBeLessThanOrEqual(maximum)
  })
})

it(`a bundle of the hooks of messages has at most ${MAX_BYTES_OF_HOOKS} bytes, and none of the parts that it does not use`, async () => {
  const hooks =
    'ChatProvider, useConversations, useThreads, useThread, useMessages, useAssistant, useUnread, useConnection'
  const { code, sizes } = await bundle({ contents: `export { ${hooks} } from './lib/client/react/index.ts'` })
  for (const part of ['inbox', 'presence', 'receipts', 'search', 'seen'])
    expect(sizes).toMatchObject({ [`lib/client/store/${part}.ts`]: 0 })
  expect(gzipSync(code, { level: 9 }).length).toBeLessThanOrEqual(MAX_BYTES_OF_HOOKS)
})

/** @param entry a file, or the code of one in the folder of the project */
async function bundle(entry: string | { contents: string }) {
  const absWorkingDir = fileURLToPath(new URL('../..', import.meta.url))
  const { outputFiles, metafile } = await build({
    ...(typeof entry === 'string' ? { entryPoints: [entry] } : { stdin: { ...entry, resolveDir: absWorkingDir } }),
    absWorkingDir,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    external: ['react'],
    metafile: true,
    write: false,
    outfile: 'bundle.js',
  })
  const { inputs } = Object.values(metafile.outputs)[0]!
  const sizes = Object.fromEntries(Object.keys(metafile.inputs).map((path) => [path, inputs[path]?.bytesInOutput ?? 0]))
  return { code: outputFiles[0]!.text, inputs: Object.keys(metafile.inputs), sizes }
}
