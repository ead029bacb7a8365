import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { replaceFile } from '../../lib/storage/archive/files.ts'
import type { Facts } from './facts.ts'
import type { Target, TargetFile } from './target.ts'

/** A file to write. */
export interface FilledFile {
  path: string
  text: string
}

/** The files of a target, filled in from the configuration. */
export function fillIn(target: Target, facts: Facts): FilledFile[] {
  return target.files(facts).map((file) => ({ path: resolve(facts.output, file.name), text: textOf(file, facts.root) }))
}

/**
 * The text of an example with its replacements.
 *
 * @throws Error when the example has one of the texts no more
 */
function textOf({ example, replace }: TargetFile, root: string): string {
  let text = readFileSync(join(root, example), 'utf8')
  for (const [there, here] of replace) {
    if (!text.includes(there)) throw new Error(`${example} has no ${JSON.stringify(there)} to fill in`)
    text = text.replaceAll(here === '' && text.includes(`${there}\n`) ? `${there}\n` : there, () => here)
  }
  return text
}

/**
 * Writes all files, or none of them.
 *
 * @throws Error with the names of those that exist, unless `force`
 */
export async function writeAll(files: FilledFile[], { force }: { force: boolean }): Promise<void> {
  const existing = files.filter(({ path }) => existsSync(path)).map(({ path }) => path)
  if (existing.length > 0 && !force) {
    const exist = existing.length === 1 ? 'already exists; --force replaces it' : 'already exist; --force replaces them'
    throw new Error(`${existing.join(', ')} ${exist}`)
  }
  for (const { path, text } of files) {
    mkdirSync(dirname(path), { recursive: true })
    // Programs of other users read them.
    await replaceFile(path, { force, mode: 0o666 }, (partial) => writeFile(partial, text))
  }
}

/** The folder of this package, which has the examples. */
export function packageRoot(from = dirname(fileURLToPath(import.meta.url))): string {
  if (existsSync(join(from, 'examples', 'deploy', 'chat-server.service'))) return from
  if (dirname(from) === from)
    throw new Error('The folder "examples" of the package chat-server is missing: install it again')
  return packageRoot(dirname(from))
}
