import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** A program of a later version. */
export interface NextVersion {
  /** The command line of it. */
  program: string
  remove(): Promise<void>
}

/** A migration of a later version. */
interface NextMigration {
  name: string
  /** Begins another major version of the schema. */
  major?: number
  statements: string[]
}

/** Builds the command line of a later version: this one with another number, and with more migrations. */
export async function buildNextVersion(version: string, migrations: NextMigration[]): Promise<NextVersion> {
  // Inside the project, where Node finds the packages that it imports.
  const outdir = await mkdtemp(join(ROOT, 'node_modules', '.cache', 'test-next-'))
  const added = `...${JSON.stringify(migrations)}.map((each) => ({ ...each, statements: () => each.statements }))`
  await build({
    entryPoints: [join(ROOT, 'cli/main.ts')],
    ...{ outdir, outbase: ROOT, outExtension: { '.js': '.mjs' } },
    ...{ bundle: true, splitting: true, format: 'esm', platform: 'node', target: 'node20', packages: 'external' },
    external: ['#web-page'],
    plugins: [
      replaceIn(/core[/\\]version\.ts$/, /VERSION = '[^']+'/, `VERSION = '${version}'`),
      replaceIn(/schema[/\\]migrations\.ts$/, /(MIGRATIONS: readonly Migration\[\] = \[[^\]]*)\]/, `$1 ${added}]`),
    ],
  })
  return { program: join(outdir, 'cli/main.mjs'), remove: () => rm(outdir, { recursive: true, force: true }) }
}

/** Changes the text of a file as it is built. @throws Error if there is nothing to change */
function replaceIn(filter: RegExp, what: RegExp, by: string): Plugin {
  return {
    name: String(filter),
    setup({ onLoad }) {
      onLoad({ filter }, async ({ path }) => {
        const text = await readFile(path, 'utf8')
        if (!what.test(text)) throw new Error(`${path} has no ${what}`)
        return { contents: text.replace(what, by), loader: 'ts' }
      })
    },
  }
}
