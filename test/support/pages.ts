import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './example.ts'

/** The pages of the documentation, by their paths in the project. */
export function listPages(): string[] {
  return ['README.md', ...filesBelow('docs').filter((path) => path.endsWith('.md'))]
}

/** The text of a file of the project. */
export function textOf(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

/** All files in a folder of the project, at any depth. */
export function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path))
}
