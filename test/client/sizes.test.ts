import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, type Plugin } from 'esbuild'
import { describe, expect, it } from 'vitest'

/** But for what reads commands, which is a pure function with a limit of its own: pages without it do not have it. */
const CLIENT = "export { ChatError, createChatClient } from './lib/client/index.ts'"
const REACT = `${CLIENT}; export * from './lib/client/react/index.ts'`

/**
 * What a page downloads at most for entry points when it starts, in bytes: bundled, minified and compressed. Each is whole,
 * with all that it exports.
 */
const MAX_BYTES: Record<string, number> = {
  [CLIENT]: 6_235,
  "export { parseCommand } from './lib/client/index.ts'": 2_140,
  "export { streamMessage } from './lib/client/index.ts'": 1_556,
  "export * from './lib/client/store/index.ts'": 12_840,
  "export * from './lib/client/store/parts.ts'": 5_560,
  "export * from './lib/client/ai/index.ts'": 2_020,
  [`${CLIENT}; export * from './lib/client/store/index.ts'`]: 18_320,
  [REACT]: 24_005,
}

/**
 * What it downloads at most beyond that when it first uses a part that few pages use, or none at its start: with what the
 * part shares with the rest, which a page has already.
 */
const MAX_BYTES_LATER: Record<string, number> = {
  // In Node; for the endpoints of OpenAI; for a number that JSON has not; for other transports; for files.
  cookies: 190,
  compat: 830,
  infinite: 490,
  poll: 830,
  xhr: 980,
  upload: 1_750,
  'store/answers': 620,
  'store/assistant-chat': 1_500,
  'store/command-calls': 742,
  'store/live-notices': 660,
  'store/followed-threads': 1_240,
  'store/readers': 1_020,
  'store/search-pages': 460,
  'store/seen-watches': 1_440,
  'store/tree': 2_550,
  'store/upload-file': 490,
  'store/visits': 710,
  'store/window-marks': 350,
}

/** What a page downloads at most that uses the hooks of conversations, threads and messages. */
const MAX_BYTES_OF_HOOKS = 13_675

describe.each(Object.entries(MAX_BYTES))('a bundle of %s', (contents, maximum) => {
  it(`has at most ${maximum} bytes, no package, no route and no endpoint of administrators`, async () => {
    const { code, inputs } = await bundle(contents)
    expect(inputs.filter((path) => !/^(<stdin>$|lib\/(client|core|react)\/)/.test(path))).toEqual([])
    expect(code).not.toMatch(/\/api\/admin|\/metrics|\/v1\//)
    expect(gzipSync(code, { level: 9 }).length).toBeLessThanOrEqual(maximum)
  })
})

it.each(Object.entries(MAX_BYTES_LATER))('%s is loaded later, and has at most %i bytes', async (name, maximum) => {
  const path = `lib/client/${name}.ts`
  expect((await bundle(REACT)).inputs).not.toContain(path)
  const { code } = await bundle(`export * from './${path}'`)
  expect(gzipSync(code, { level: 9 }).length).toBeLessThanOrEqual(maximum)
})

it(`a bundle of the hooks of messages has at most ${MAX_BYTES_OF_HOOKS} bytes, and none of the parts that it does not use`, async () => {
  const hooks =
    'ChatProvider, useConversations, useThreads, useThread, useMessages, useAssistant, useUnread, useConnection'
  const { code, sizes } = await bundle(`export { ${hooks} } from './lib/client/react/index.ts'`)
  for (const part of ['followed', 'inbox', 'presence', 'receipts', 'search', 'seen'])
    expect(sizes).toMatchObject({ [`lib/client/store/${part}.ts`]: 0 })
  expect(gzipSync(code, { level: 9 }).length).toBeLessThanOrEqual(MAX_BYTES_OF_HOOKS)
})

const LATER: Plugin = {
  name: 'later',
  setup({ onResolve }) {
    onResolve({ filter: /./ }, ({ kind, path }) => (kind === 'dynamic-import' ? { path, external: true } : undefined))
  },
}

/** A bundle of a module of the project with this text, without what it loads later. */
async function bundle(contents: string) {
  const absWorkingDir = fileURLToPath(new URL('../..', import.meta.url))
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: absWorkingDir },
    absWorkingDir,
    plugins: [LATER],
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
