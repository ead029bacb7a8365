import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'

/** What a page downloads at most for an entry point, in bytes: bundled, minified and compressed. */
const MAX_BYTES: Record<string, number> = {
  'lib/client/index.ts': 8_000,
  'lib/client/store/index.ts': 6_000,
  'lib/client/react/index.ts': 7_000,
}

describe.each(Object.entries(MAX_BYTES))('a bundle of %s', (entry, maximum) => {
  it(`has at most ${maximum} bytes, no package, no route and no endpoint of administrators`, async () => {
    const { code, inputs } = await bundle(entry)
    expect(inputs.filter((path) => !/^lib\/(client|core|react)\//.test(path))).toEqual([])
    expect(code).not.toMatch(/\/api\/admin|\/metrics|\/v1\//)
    expect(gzipSync(code, { level: 9 }).length).toBeLessThanOrEqual(maximum)
  })
})

async function bundle(entry: string): Promise<{ code: string; inputs: string[] }> {
  const { outputFiles, metafile } = await build({
    entryPoints: [entry],
    absWorkingDir: fileURLToPath(new URL('../..', import.meta.url)),
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    external: ['react'],
    metafile: true,
    write: false,
    outfile: 'bundle.js',
  })
  return { code: outputFiles[0]!.text, inputs: Object.keys(metafile.inputs) }
}
