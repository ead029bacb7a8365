import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import type { Row } from '../row.ts'
import { ROOT } from '../servers/child.ts'

const LIBRARY = pathToFileURL(join(ROOT, 'dist/lib/index.js')).href

/** What Node needs to import any module at all. */
const EMPTY = 'data:text/javascript,'

/** How much longer than an empty module the library takes to import, in a process that has loaded nothing else. */
export const importTime: Row = {
  name: 'import',
  title: "import 'chat-server' beyond an empty module",
  unit: 'ms',
  better: 'lower',
  reach: 150,
  beyond: 100,
  async measure({ rounds }) {
    const results = []
    for (let round = 0; round < rounds; round++)
      results.push({ service: (await millisecondsOf(LIBRARY)) - (await millisecondsOf(EMPTY)) })
    return results
  },
}

/** What a browser downloads for the client: bundled, minified and compressed, with nothing left out. */
export const clientSize: Row = {
  name: 'client-size',
  title: "import 'chat-server/client', bundled and gzipped",
  unit: 'kB',
  better: 'lower',
  reach: 8,
  beyond: 6,
  async measure() {
    const { outputFiles } = await build({
      entryPoints: [join(ROOT, 'lib/client/index.ts')],
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'browser',
      write: false,
    })
    return [{ service: gzipSync(outputFiles[0]!.contents).length / 1000 }]
  },
}

async function millisecondsOf(url: string): Promise<number> {
  const code = `const begin = performance.now(); await import('${url}'); console.log(performance.now() - begin)`
  return Number(await nodeProgram(code))
}

/** Runs a program in a new process. @returns what it prints */
export async function nodeProgram(code: string): Promise<string> {
  return (await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code])).stdout
}
