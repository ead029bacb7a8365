import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './example.ts'

export { textOf } from '../../.ci/api/project.ts'

/** The pages of the documentation, by their paths in the project. */
export function listPages(): string[] {
  return ['README.md', ...filesBelow('docs').filter((path) => path.endsWith('.md'))]
}

/** All files in a folder of the project, at any depth. */
export function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path))
}
