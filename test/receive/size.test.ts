import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, it } from 'vitest'

/** Bundled, minified and compressed, in bytes. */
const MAX_BYTES = 6_150

it(`"chat-server/receive" has at most ${MAX_BYTES} bytes, no package, and nothing of the service`, async () => {
  const { outputFiles, metafile } = await build({
    stdin: {
      contents: "export * from './lib/receive/index.ts'",
      resolveDir: fileURLToPath(new URL('../..', import.meta.url)),
    },
    ...{
      bundle: true,
      minify: true,
      write: false,
      metafile: true,
      format: 'esm',
      platform: 'node',
      logLevel: 'silent',
    },
  })
  const inputs = Object.keys(metafile.inputs).filter(
    (path) => !/^(<stdin>$|lib\/receive\/|lib\/client\/backoff\.ts$)/.test(path),
  )
  const imports = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path))
  expect(inputs).toEqual([])
  expect([...new Set(imports)]).toEqual(['node:crypto'])
  expect(gzipSync(outputFiles[0]!.contents, { level: 9 }).length).toBeLessThanOrEqual(MAX_BYTES)
})
