import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, it } from 'vitest'

/** Bundled, minified and compressed, in bytes, without the client and the receiver kit. */
const MAX_BYTES = 5_800

it(`"chat-server/chat-sdk" has at most ${MAX_BYTES} bytes, no package but that of the SDK, and nothing of the service`, async () => {
  const { outputFiles, metafile } = await build({
    stdin: {
      contents: "export * from './lib/chat-sdk/index.ts'",
      resolveDir: fileURLToPath(new URL('../..', import.meta.url)),
    },
    plugins: [
      {
        name: 'beside',
        setup: ({ onResolve }) =>
          onResolve({ filter: /^\.\.\/(client|receive)\// }, ({ path }) => ({ path, external: true })),
      },
    ],
    ...{ bundle: true, minify: true, write: false, metafile: true, format: 'esm', platform: 'node' },
    ...{ external: ['chat'], logLevel: 'silent' },
  })
  const inputs = Object.keys(metafile.inputs).filter((path) => !/^(<stdin>$|lib\/chat-sdk\/)/.test(path))
  const imports = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path))
  expect(inputs).toEqual([])
  expect([...new Set(imports.filter((path) => !path.startsWith('..')))].sort()).toEqual(['chat', 'node:async_hooks'])
  expect(gzipSync(outputFiles[0]!.contents, { level: 9 }).length).toBeLessThanOrEqual(MAX_BYTES)
})
