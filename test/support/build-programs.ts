import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { BUILT, PROGRAMS } from './programs.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The web chat, of the packages that a clone may be without. */
async function buildPage(): Promise<boolean> {
  const { buildWeb, missingPackages } = await import(new URL('../../.ci/build-web.mjs', import.meta.url).href)
  if (missingPackages().length > 0) return false
  await buildWeb()
  return true
}

/**
 * Builds, once per run, the types that hosts see (where a source is newer), the web chat, and the programs that tests start as processes:
 * they then start in a quarter of the time. The build stays inside the project, where Node finds the packages it imports.
 */
export async function setup(): Promise<() => Promise<void>> {
  const { buildApi } = await import(new URL('../../.ci/build-api.mjs', import.meta.url).href)
  buildApi()
  const cache = join(ROOT, 'node_modules', '.cache')
  await mkdir(cache, { recursive: true })
  const outdir = await mkdtemp(join(cache, 'test-programs-'))
  // A test runs them as another user.
  await chmod(outdir, 0o755)
  const hasPage = await buildPage()
  await build({
    entryPoints: PROGRAMS.map((program) => join(ROOT, program)),
    outdir,
    outbase: ROOT,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    external: hasPage ? [] : ['#web-page'],
  })
  process.env[BUILT] = outdir
  return () => rm(outdir, { recursive: true, force: true })
}
