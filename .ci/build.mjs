// Runs as `prepare`: builds `dist/` where all that builds it is there. `npm install --omit=dev` leaves it out, and must not
// fail: it says how to build.
//
// Types come from tsc. The code is bundled by esbuild, since Node takes longer to find two hundred files than to run
// them. What several entry points use is in `dist/shared`, so that they have one copy of it; packages stay outside.
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'

const COMPILER = 'node_modules/typescript/bin/tsc'

/** Packages that it needs beside TypeScript, and that nothing else of an installation brings. */
const BUILDERS = ['@types/node', 'esbuild', 'tsx', 'vitest', '@biomejs/biome']

const ENTRY_POINTS = [
  'lib/index.ts',
  'lib/http/index.ts',
  'lib/client/index.ts',
  'lib/client/admin.ts',
  'lib/client/store/index.ts',
  'lib/client/store/parts.ts',
  'lib/client/ai/index.ts',
  'lib/client/react/index.ts',
  'lib/receive/index.ts',
  'lib/chat-sdk/index.ts',
  'lib/testing/index.ts',
  'lib/web/index.ts',
  'cli/main.ts',
]

/** TypeScript comes with other packages, too: alone it compiles nothing. */
const canBuild = [COMPILER, ...BUILDERS.map((name) => `node_modules/${name}`)].every((path) => existsSync(path))

if (!canBuild) {
  const state = existsSync('dist/cli/main.js') ? 'dist/ stays as it is' : 'there is no dist/ yet'
  process.stderr.write(`The packages that build chat-server are not installed: ${state}.
To build it and keep only what runs it: npm ci && npm prune --omit=dev
`)
} else {
  const { buildApi } = await import('./build-api.mjs')
  buildApi()
  rmSync('dist', { recursive: true, force: true })
  const types = spawn(process.execPath, [COMPILER, '-p', 'tsconfig.json', '--emitDeclarationOnly'], {
    stdio: 'inherit',
  })
  const compiled = new Promise((resolve) => types.once('close', resolve))
  // It takes longer than the rest, beside which it runs.
  await bundle()
  await bundlePage()
  const status = await compiled
  if (status !== 0) process.exit(status ?? 1)
  removeUnreachedTypes()
  // So that `npx chat-server` works in a clone, too.
  chmodSync('dist/cli/main.js', 0o755)
}

/** Leaves the declarations that an entry point leads to: those of the command line, and of inner parts, nobody can name. */
function removeUnreachedTypes() {
  const entries = ENTRY_POINTS.filter((path) => path.startsWith('lib/'))
  // The set grows while it is read.
  const reached = new Set(entries.map((path) => join('dist', path.replace(/ts$/, 'd.ts'))))
  for (const file of reached)
    for (const [, path] of readFileSync(file, 'utf8').matchAll(/\b(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g))
      reached.add(join(dirname(file), path.replace(/\.[jt]s$/, '.d.ts')))
  for (const path of readdirSync('dist', { recursive: true, encoding: 'utf8' })) {
    const file = join('dist', path)
    if (path.endsWith('.d.ts') && !reached.has(file)) rmSync(file)
  }
}

/** The web chat needs packages that nothing else does: without them there is none. */
async function bundlePage() {
  const { buildWeb, missingPackages } = await import('./build-web.mjs')
  const missing = missingPackages()
  if (missing.length === 0) await buildWeb()
  else process.stderr.write(`The web chat is not built: ${missing.join(', ')} is not installed.\n`)
}

/** The commit of a clone; empty elsewhere. */
function commit() {
  const { status, stdout } = spawnSync('git', ['rev-parse', '--short=12', 'HEAD'], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : ''
}

async function bundle() {
  const { build } = await import('esbuild')
  await build({
    define: { CHAT_COMMIT: JSON.stringify(commit()) },
    entryPoints: ENTRY_POINTS,
    outdir: 'dist',
    outbase: '.',
    bundle: true,
    splitting: true,
    chunkNames: 'shared/[name]-[hash]',
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    packages: 'external',
    // Written below, and loaded where it is served.
    external: ['#web-page'],
    // Not minified: a stack trace names functions, and a comment above each part its source. With `node --enable-source-maps`
    // it names files and lines of the sources. The sources are not in the maps: they would be three times as large.
    sourcemap: 'linked',
    sourcesContent: false,
    logLevel: 'warning',
  })
}
