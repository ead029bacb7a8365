// Builds the web chat (examples/web-chat) into one module, dist/web/page.mjs: its HTML, that of the API, and their files compressed. A module
// can be bundled by a host, and is read only where the page is served. Run as a program, it builds it, too.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'
import { hasNames, packEmoji, packNames } from './emoji.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const SOURCE = `${ROOT}examples/web-chat`
const LANGUAGES = `${SOURCE}/src/texts/languages`
const OUT = `${ROOT}dist/web`
const STORE = `${ROOT}lib/client/store`
const PARTS = 'chat-server/client/parts'
const ICONS = ['icon-192.png', 'icon-512.png', 'icon-maskable.png']
/** What the first screen consists of, besides `main.tsx`, which waits for a part. */
const FIRST = ['app/start.ts', 'app/worker.ts', 'root.tsx']
/** The oldest browsers: those that have `light-dark()`. */
const TARGETS = ['chrome123', 'firefox125', 'safari17.5']
const PACKAGES = ['preact', '@preact/signals', 'lowlight', 'highlight.js', 'emojibase-data', 'esbuild']

/** What of the packages that build it is not installed. */
export function missingPackages() {
  return PACKAGES.filter((name) => !existsSync(`${ROOT}node_modules/${name}`))
}

/**
 * Makes one file of all modules of the first screen. The bundler puts modules in one file that the same entry points need, and each
 * part that is loaded later is one: it would make a file for each set of parts that share something with the first screen,
 * dozens in all. Here each part needs all of the first screen, which is there when the part is loaded.
 */
const JOINED = {
  name: 'joined',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\./ }, ({ kind, namespace, resolveDir, path }) =>
      kind === 'dynamic-import' && namespace === 'file'
        ? { path: resolve(resolveDir, path), namespace: 'part' }
        : undefined,
    )
    onLoad({ filter: /./, namespace: 'part' }, ({ path }) => ({
      contents: [
        ...FIRST.map((name) => `import '${SOURCE}/src/${name}'`),
        `export * from ${JSON.stringify(path)}`,
      ].join('\n'),
      resolveDir: SOURCE,
    }))
  },
}

/**
 * Imports each part of the store from its own module: the bundler takes all modules that an imported one names, so that the
 * first screen, which has some of the parts, would have all of them.
 */
const PARTED = {
  name: 'parted',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]web-chat[\\/]src[\\/].*\.tsx?$/, namespace: 'file' }, async ({ path }) => {
      const source = await readFile(path, 'utf8')
      if (!source.includes(`'${PARTS}'`)) return undefined
      const parts = await readFile(`${STORE}/parts.ts`, 'utf8')
      const modules = Array.from(parts.matchAll(/export (?:type )?{([^}]+)} from '.(\/[\w-]+\.ts)'/g))
      const contents = source.replace(/(import .*{ *(?:type )?(\w+).*} from) '([^']+)'/g, (all, start, name, from) => {
        const module = from === PARTS && modules.find(([, names]) => names.match(/\w+/g).includes(name))
        return module ? `${start} ${JSON.stringify(STORE + module[2])}` : all
      })
      return { contents, loader: path.endsWith('x') ? 'tsx' : 'ts' }
    })
  },
}

/** Has what reads commands where commands are called: as part of the client, it would be part of the first screen. */
const COMMANDS = {
  name: 'commands',
  setup({ onLoad }) {
    const reader = `${ROOT}lib/client/parse-command.ts`
    onLoad({ filter: /[\\/]lib[\\/]client[\\/]index\.ts$/, namespace: 'file' }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replace(/^export {.*} from '\.\/parse-command\.ts'$/m, ''),
      loader: 'ts',
    }))
    onLoad(
      { filter: /[\\/]web-chat[\\/]src[\\/]commands[\\/](call|call-note|options)\.tsx?$/, namespace: 'file' },
      async ({ path }) => {
        const source = await readFile(path, 'utf8')
        const parts = `${STORE}/commands.ts`
        const contents = source
          .replace(/(import {.*\bparseCommand } from) '[^']+'/, `$1 ${JSON.stringify(reader)}`)
          .replace(/(import { commandsOf } from) '[^']+'/, `$1 ${JSON.stringify(parts)}`)
        return { contents, loader: path.endsWith('x') ? 'tsx' : 'ts' }
      },
    )
  },
}

/** Lists the languages: each file is one, and is loaded where it is wanted. English is part of the first screen. */
const LISTED = {
  name: 'languages',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^virtual:languages$/ }, ({ path }) => ({ path, namespace: 'languages' }))
    onLoad({ filter: /./, namespace: 'languages' }, async () => {
      const codes = await languages()
      const loaders = codes.map((code) => `${JSON.stringify(code)}: () => import('./${code}.ts')`)
      return { contents: `export const LANGUAGES = { ${loaders.join(', ')} }`, resolveDir: LANGUAGES }
    })
  },
}

/** Style sheets that a script adopts when it is loaded, by `import './a.css?adopted'`: the policy of the page allows those. */
const ADOPTED = {
  name: 'adopted',
  setup({ onResolve, onLoad, esbuild }) {
    onResolve({ filter: /\.css\?adopted$/ }, ({ resolveDir, path }) => ({
      path: resolve(resolveDir, path.replace('?adopted', '')),
      namespace: 'adopted',
    }))
    onLoad({ filter: /./, namespace: 'adopted' }, async ({ path }) => {
      const { outputFiles } = await esbuild.build({
        entryPoints: [path],
        bundle: true,
        minify: true,
        target: TARGETS,
        write: false,
        logLevel: 'warning',
      })
      return {
        contents: `const sheet = new CSSStyleSheet()
          sheet.replaceSync(${JSON.stringify(outputFiles[0].text)})
          document.adoptedStyleSheets.push(sheet)`,
      }
    })
  },
}

/** The emoji and their names, each a file of its own, which is loaded when an emoji is looked for. */
const EMOJI = {
  name: 'emoji',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^virtual:emoji/ }, ({ path }) => ({ path: path.slice('virtual:'.length), namespace: 'emoji' }))
    onLoad({ filter: /^emoji$/, namespace: 'emoji' }, async () => {
      const loaders = (await languages())
        .filter(hasNames)
        .map((code) => `${JSON.stringify(code)}: () => import('virtual:emoji-${code}')`)
      return {
        contents: `export const EMOJI = () => import('virtual:emoji-en'); export const NAMES = { ${loaders.join(', ')} }`,
      }
    })
    onLoad({ filter: /^emoji-/, namespace: 'emoji' }, async ({ path }) => {
      const code = path.slice('emoji-'.length)
      return { contents: await (code === 'en' ? packEmoji() : packNames(code)), loader: 'text' }
    })
  },
}

/** The codes of all languages but English. */
async function languages() {
  return (await readdir(LANGUAGES)).map((name) => name.replace(/\.ts$/, '')).filter((code) => code !== 'en')
}

/** Writes the module. */
export async function buildWeb() {
  const { build } = await import('esbuild')
  const highlight = await buildHighlight(build)
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: { app: `${SOURCE}/src/main.tsx`, docs: `${SOURCE}/src/docs/main.tsx` },
    outdir: 'assets',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: TARGETS,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    tsconfig: `${SOURCE}/tsconfig.json`,
    plugins: [LISTED, EMOJI, JOINED, ADOPTED, COMMANDS, PARTED],
    charset: 'utf8',
    define: { HIGHLIGHT: JSON.stringify(highlight.name) },
    metafile: true,
    write: false,
    logLevel: 'warning',
  })
  const files = Object.fromEntries(
    outputFiles.map(({ path, contents }) => [
      `/assets/${path.split(/[\\/]/).at(-1)}`,
      compressed(path.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8', contents),
    ]),
  )
  files[`/assets/${highlight.name}`] = compressed('text/javascript; charset=utf-8', highlight.contents)
  files['/icon.svg'] = compressed('image/svg+xml', await readFile(`${SOURCE}/icon.svg`))
  files['/sw.js'] = compressed('text/javascript; charset=utf-8', await buildWorker(build, Object.keys(files)))
  // After the worker, which need not keep them: systems load them when the page is installed.
  for (const name of ICONS) files[`/${name}`] = compressed('image/png', await readFile(`${SOURCE}/${name}`))
  const template = await readFile(`${SOURCE}/index.html`, 'utf8')
  const chat = filesOf(metafile.outputs, 'src/main.tsx')
  const html = template.replace('<!-- files -->', linksTo(chat))
  const docs = template.replace('<!-- files -->', linksTo(filesOf(metafile.outputs, 'src/docs/main.tsx')))
  await mkdir(OUT, { recursive: true })
  const written = `${OUT}/page.${process.pid}.mjs`
  await writeFile(written, `export const PAGE = ${JSON.stringify({ html, docs, files })}\n`)
  await rename(written, `${OUT}/page.mjs`).catch(async (error) => {
    await rm(written, { force: true })
    throw error
  })
}

/** The worker that finds the colors of code, under a name that changes with it. */
async function buildHighlight(build) {
  const { outputFiles } = await build({
    entryPoints: { highlight: `${SOURCE}/src/markdown/highlight.ts` },
    outdir: 'assets',
    entryNames: '[name]-[hash]',
    bundle: true,
    minify: true,
    format: 'iife',
    target: TARGETS,
    write: false,
    logLevel: 'warning',
  })
  const [{ path, contents }] = outputFiles
  return { name: path.split(/[\\/]/).at(-1), contents }
}

/** The service worker, which has the files of the chat in it but the emoji, which not everyone looks for; and a version that changes with them. */
async function buildWorker(build, paths) {
  const kept = paths.filter((path) => !/^\/assets\/(docs|emoji)-/.test(path)).map((path) => path.slice(1))
  const { outputFiles } = await build({
    entryPoints: [`${SOURCE}/src/worker/worker.ts`],
    bundle: true,
    minify: true,
    format: 'iife',
    target: TARGETS,
    define: {
      FILES: JSON.stringify(kept),
      VERSION: JSON.stringify(createHash('sha256').update(kept.join()).digest('base64url').slice(0, 12)),
    },
    write: false,
    logLevel: 'warning',
  })
  return outputFiles[0].contents
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildWeb()

/** What a page loads at once. */
function filesOf(outputs, source) {
  // What is loaded later has an entry point, too.
  const entry = Object.keys(outputs).find((name) => outputs[name].entryPoint === `examples/web-chat/${source}`)
  // What the entry imports: the browser then loads it beside the entry, not after it.
  return { entry, style: outputs[entry].cssBundle, imported: importsOf(outputs, entry) }
}

function linksTo({ entry, style, imported }) {
  return [
    `<link rel="stylesheet" href="{{base}}/${style}">`,
    ...imported.map((path) => `<link rel="modulepreload" href="{{base}}/${path}">`),
    `<script type="module" src="{{base}}/${entry}"></script>`,
  ].join('\n    ')
}

function importsOf(outputs, path, found = new Set()) {
  for (const { path: imported, kind } of outputs[path].imports)
    if (kind === 'import-statement' && !found.has(imported)) importsOf(outputs, imported, found.add(imported))
  return [...found]
}

function compressed(type, contents) {
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } }
  return {
    type,
    br: brotliCompressSync(contents, quality).toString('base64'),
  }
}
