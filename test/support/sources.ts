import { readdirSync, readFileSync } from 'node:fs'
import { parseAst } from 'vitest/node'

/** A node of a syntax tree. */
export interface SourceNode {
  type: string
  start: number
  end: number
  [key: string]: unknown
}

/** Every node of a tree, outermost first. */
export function* nodesOf(node: unknown): Generator<SourceNode> {
  if (Array.isArray(node)) for (const each of node) yield* nodesOf(each)
  else if (node !== null && typeof node === 'object') {
    if ('type' in node) yield node as SourceNode
    for (const value of Object.values(node)) yield* nodesOf(value)
  }
}

const FILES = ['lib', 'cli'].flatMap((folder) =>
  (readdirSync(folder, { recursive: true }) as string[])
    .filter((file) => /\.tsx?$/.test(file) && !/^api\//.test(file))
    .map((file) => `${folder}/${file}`),
)

/** What `find` returns of the nodes of each file of `lib` and `cli`. */
export function findInSources(find: (node: SourceNode) => string | undefined): [file: string, found: string[]][] {
  return FILES.map((file) => {
    const nodes = nodesOf(parseAst(readFileSync(file, 'utf8'), { lang: file.endsWith('x') ? 'tsx' : 'ts' }))
    return [file, [...nodes].flatMap((node) => find(node) ?? [])]
  })
}

/** Each name once, with how often it is there: `name ×2`. */
export function counted(names: readonly string[]): string[] {
  return [...new Set(names)].map((name) => `${name} ×${names.filter((each) => each === name).length}`)
}

/** What is found and has no decision, and each decision on what is not found. */
export function undecided(found: Iterable<string>, decided: Iterable<string>): string[] {
  const [is, has] = [new Set(found), new Set(decided)]
  return [
    ...[...is].filter((each) => !has.has(each)).map((each) => `has no decision: ${each}`),
    ...[...has].filter((each) => !is.has(each)).map((each) => `does not exist: ${each}`),
  ]
}
