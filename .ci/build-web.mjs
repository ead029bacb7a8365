// Builds the web chat (examples/web-chat) into one module, dist/web/page.mjs: its HTML, and its files compressed. A module
// can be bundled by a host, and is read only where the page is served. Run as a program, it builds it, too.
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const SOURCE = `${ROOT}examples/web-chat`
const OUT = `${ROOT}dist/web`

/** What of the packages that build it is not installed. */
export function missingPackages() {
  return ['preact', '@preact/signals', 'marked', 'esbuild'].filter((name) => !existsSync(`${ROOT}node_modules/${name}`))
}

/** Writes the module. @returns the files of the first screen, compressed, in bytes */
export async function buildWeb() {
  const { build } = await import('esbuild')
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: { app: `${SOURCE}/src/main.tsx` },
    outdir: 'assets',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: ['chrome114', 'firefox125', 'safari17'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    tsconfig: `${SOURCE}/tsconfig.json`,
    metafile: true,
    write: false,
    logLevel: 'warning',
  })
  const names = Object.keys(metafile.outputs)
  // What is loaded later has an entry point, too.
  const entry = names.find((name) => metafile.outputs[name].entryPoint === 'examples/web-chat/src/main.tsx')
  const style = metafile.outputs[entry].cssBundle
  // What the entry imports at once: the browser then loads it beside the entry, not after it.
  const imported = importsOf(metafile.outputs, entry)
  const files = Object.fromEntries(
    outputFiles.map(({ path, contents }) => [
      `/assets/${path.split(/[\\/]/).at(-1)}`,
      compressed(path.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8', contents),
    ]),
  )
  files['/icon.svg'] = compressed('image/svg+xml', await readFile(`${SOURCE}/icon.svg`))
  const links = [
    `<link rel="stylesheet" href="{{base}}/${style}">`,
    ...imported.map((path) => `<link rel="modulepreload" href="{{base}}/${path}">`),
    `<script type="module" src="{{base}}/${entry}"></script>`,
  ]
  const template = await readFile(`${SOURCE}/index.html`, 'utf8')
  const html = template.replace('<!-- files -->', links.join('\n    '))
  await mkdir(OUT, { recursive: true })
  const written = `${OUT}/page.${process.pid}.mjs`
  await writeFile(written, `export const PAGE = ${JSON.stringify({ html, files })}\n`)
  await rename(written, `${OUT}/page.mjs`).catch(async (error) => {
    await rm(written, { force: true })
    throw error
  })
  return [entry, style, ...imported].reduce(
    (sum, path) => sum + Buffer.from(files[`/${path}`].gzip, 'base64').length,
    0,
  )
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildWeb()

function importsOf(outputs, path, found = new Set()) {
  for (const { path: imported, kind } of outputs[path].imports)
    if (kind === 'import-statement' && !found.has(imported)) importsOf(outputs, imported, found.add(imported))
  return [...found]
}

function compressed(type, contents) {
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } }
  return {
    type,
    gzip: gzipSync(contents, { level: 9 }).toString('base64'),
    br: brotliCompressSync(contents, quality).toString('base64'),
  }
}
