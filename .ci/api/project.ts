import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** The folder of the project. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The text of a file of the project. */
export function textOf(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

/** What the matching files of a folder export, file by file, in the order of their paths in it. */
export async function* modulesBelow(
  folder: string,
  matches: (path: string) => boolean,
): AsyncGenerator<[file: string, module: Record<string, unknown>]> {
  for (const path of readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).sort())
    if (matches(path)) yield [`${folder}/${path}`, await import(pathToFileURL(join(ROOT, folder, path)).href)]
}
