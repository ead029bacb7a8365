import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { ROOT } from './example.ts'

/**
 * Copies an example to a folder where its packages are installed.
 *
 * @param packages where they are in the project, by the names that the example has for them
 * @returns the folder, which has a `tsconfig.json`
 */
export async function installExample(
  name: string,
  files: readonly string[],
  packages: Record<string, string>,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `chat-${name}-`))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  for (const file of files) await cp(join(ROOT, 'examples', name, file), join(folder, file))
  for (const [as, target] of Object.entries(packages)) {
    const link = join(folder, 'node_modules', as)
    await mkdir(dirname(link), { recursive: true })
    await symlink(join(ROOT, target), link)
  }
  const compilerOptions = {
    noEmit: true,
    allowImportingTsExtensions: true,
    rewriteRelativeImportExtensions: false,
    rootDir: '/',
  }
  const config = { extends: join(ROOT, 'tsconfig.json'), compilerOptions, include: ['*.ts', '*.tsx'] }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
  return folder
}

/** What the compiler says of an installed example; an empty text without an error. */
export async function typeErrorsOf(folder: string): Promise<string> {
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
  const run = promisify(execFile)(process.execPath, [compiler, '-p', folder])
  const { stdout } = await run.catch((error: { stdout: string }) => error)
  return stdout
}
