import { readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { basename, dirname, posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseAst } from 'vitest/node'

/**
 * The ladder, lowest step first: at run time a file imports from its own step and from those below; `import type` is
 * free. Where several patterns fit a file, the one with the fewest stars counts, then the lowest.
 */
const LADDER: [step: string, ...files: string[]][] = [
  ['errors · ids', 'lib/errors.ts', 'lib/ids.ts', 'lib/pages.ts', 'lib/version.ts'],
  ['config · schema', 'lib/config.ts', 'lib/config-*.ts', 'lib/schema.ts', 'lib/characters.ts', 'lib/*/schema.ts'],
  ['rules', 'lib/*/rules.ts'],
  ['storage', 'lib/storage/**'],
  ['store', 'lib/*/store.ts'],
  ['context · events', 'lib/context.ts', 'lib/events/*.ts'],
  ['service', 'lib/*/*.ts', 'lib/events/service.ts'],
  ['chat', 'lib/chat.ts', 'lib/bind.ts', 'lib/index.ts'],
  ['http/route', 'lib/http/route.ts'],
  ['routes', 'lib/*/routes.ts', 'lib/events/routes.ts'],
  ['http · client', 'lib/http/**', 'lib/http/routes.ts', 'lib/client.ts'],
  ['cli', 'cli/**'],
]

/** All that a role may import at run time; `@` is its own feature. A service has the ladder only. */
const ROLES: Record<string, string[]> = {
  'schema.ts': ['valibot', 'lib/schema.ts', 'lib/characters.ts', 'lib/*/schema.ts'],
  'rules.ts': ['lib/errors.ts', 'lib/schema.ts', 'lib/characters.ts', 'lib/*/schema.ts', 'lib/*/rules.ts'],
  'store.ts': [
    'lib/ids.ts',
    'lib/schema.ts',
    'lib/characters.ts',
    'lib/*/schema.ts',
    'lib/@/rules.ts',
    'lib/storage/sql.ts',
  ],
  'routes.ts': ['valibot', 'lib/schema.ts', 'lib/characters.ts', 'lib/*/schema.ts', 'lib/http/route.ts'],
}

/** The only places that name a package, in types too: ours are published without theirs. */
const FENCES: Record<string, string[]> = {
  h3: ['lib/http/**'],
  '@valibot/to-json-schema': ['lib/http/**'],
  db0: ['lib/storage/**'],
  'better-sqlite3': ['lib/storage/**'],
  pg: ['lib/storage/**'],
  unstorage: ['lib/storage/**'],
  '@node-rs/bcrypt': ['lib/auth/passwords.ts'],
  oauth4webapi: ['lib/oauth/**'],
  'prom-client': ['lib/ops/**'],
  citty: ['cli/**'],
  consola: ['cli/**'],
  listhen: ['cli/**'],
  confbox: ['cli/**', 'lib/http/**'],
}

/** What a browser gets with `lib/client.ts`: our files, these packages, and nothing of Node. */
const BROWSER_PACKAGES = ['valibot']

/** A file beside the five roles is named for what it is about, and `lib/index.ts` is the only barrel. */
const DRAWERS = /^(utils?|helpers?|common|misc|shared|index)\.ts$/

/** By then a file wants to be two. */
const MAX_LINES = 300

/** Each rule names what breaks it, as `file: why`. */
const RULES: Record<string, (tree: Tree) => string[]> = {
  'every file has a step on the ladder': (tree) =>
    Object.keys(tree)
      .filter((path) => step(path) < 0)
      .map((path) => `${path}: has no step`),

  'imports go down the ladder': (tree) =>
    everyImport(tree, ({ path }, { target, atRuntime }) => {
      if (!atRuntime || step(target) <= step(path)) return
      return `${stepName(path)} must not import ${stepName(target)}, ${target}`
    }),

  'each role imports what its row allows': (tree) =>
    everyImport(tree, ({ path }, { target, atRuntime }) => {
      const [, feature, role] = /^lib\/(?!http\/)([^/]+)\/([^/]+)$/.exec(path) ?? []
      const allowed = role && ROLES[role]?.map((pattern) => pattern.replace('@', feature!))
      if (atRuntime && allowed && !fits(target, allowed)) return `${role} must not import ${target}`
    }),

  'nothing imports in a circle': circles,

  'packages stay behind their fences': (tree) =>
    everyImport(tree, ({ path }, { target }) => {
      if (FENCES[target] && !fits(path, FENCES[target])) return `${target} belongs in ${FENCES[target].join(', ')}`
    }),

  'a browser can load the client': (tree) => {
    const reached = new Set(['lib/client.ts'])
    for (const path of reached) for (const { target } of runtimeImports(tree, path)) reached.add(target)
    return everyImport(tree, ({ path }, { target, atRuntime }) => {
      if (!reached.has(path) || !atRuntime || isOurs(target) || BROWSER_PACKAGES.includes(target)) return
      return `the client loads it, and a browser has no ${target}`
    })
  },

  'relative imports name the .ts file, never the build': (tree) =>
    everyImport(tree, (_, { specifier, target }) => {
      if (!specifier.startsWith('.')) return
      if (target.startsWith('dist/')) return `imports ${specifier} from the build`
      if (!specifier.endsWith('.ts')) return `imports ${specifier} without its .ts`
    }),

  'the library has no default export': (tree) =>
    everyNode(tree, ({ path }, node) => {
      const renamed = node.type === 'ExportSpecifier' && (node.exported as Node).name === 'default'
      if (path.startsWith('lib/') && (renamed || node.type === 'ExportDefaultDeclaration'))
        return 'has a default export'
    }),

  'there is no enum and no namespace': (tree) =>
    everyNode(tree, (_, node) => {
      if (node.type === 'TSEnumDeclaration') return 'declares an enum'
      // `declare module 'vitest'` and `declare global` extend types of others, and are not namespaces.
      if (node.type === 'TSModuleDeclaration' && node.kind === 'namespace') return 'declares a namespace'
    }),

  'files are named for what they are about': (tree) =>
    Object.keys(tree)
      .filter((path) => path !== 'lib/index.ts' && DRAWERS.test(basename(path)))
      .map((path) => `${path}: a drawer for anything`),

  [`no file is longer than ${MAX_LINES} lines`]: (tree) =>
    Object.values(tree)
      .map(({ path, text }) => ({ path, lines: text.trimEnd().split('\n').length }))
      .filter(({ lines }) => lines > MAX_LINES)
      .map(({ path, lines }) => `${path}: ${lines} lines`),
}

describe('the source', () => {
  const root = new URL('..', import.meta.url)
  const paths = ['lib', 'cli'].flatMap((folder) =>
    readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' }).map((path) => posix.join(folder, path)),
  )
  const tree = parse(
    Object.fromEntries(
      paths.filter((path) => path.endsWith('.ts')).map((path) => [path, readFileSync(new URL(path, root), 'utf8')]),
    ),
  )

  it.each(Object.entries(RULES))('%s', (_, rule) => {
    expect(rule(tree)).toEqual([])
  })
})

/** Sources that break a rule, each with the start of the complaint; those with none are allowed and look alike. */
const EXAMPLES: Record<string, [complaint: string, sources: Record<string, string>][]> = {
  'every file has a step on the ladder': [
    ['lib/anything.ts: has no step', { 'lib/anything.ts': '' }],
    ['', { 'lib/context.ts': '', 'lib/x/anything.ts': '', 'lib/storage/a/b.ts': '', 'cli/commands/a.ts': '' }],
  ],
  'imports go down the ladder': [
    ['lib/x/service.ts: service must not import http', { 'lib/x/service.ts': "import { a } from '../http/reply.ts'" }],
    ['lib/chat.ts: chat must not import cli', { 'lib/chat.ts': "export { a } from '../cli/main.ts'" }],
    ['lib/x/y.ts: service must not import chat', { 'lib/x/y.ts': "await import('../chat.ts')" }],
    ['lib/events/hub.ts: context · events must', { 'lib/events/hub.ts': "import { a } from './service.ts'" }],
    ['lib/x/y.ts: service must not import routes', { 'lib/x/y.ts': "export * from './routes.ts'" }],
    // With `verbatimModuleSyntax` the statement stays, and with it the import.
    ['lib/errors.ts: errors · ids must', { 'lib/errors.ts': "import { type A } from './context.ts'" }],
    ['', { 'lib/x/service.ts': "import type { A } from '../chat.ts'\nexport type { B } from '../http/route.ts'" }],
    ['', { 'lib/x/service.ts': "import { a } from '../y/service.ts'\nimport { b } from '../storage/kv.ts'" }],
  ],
  'each role imports what its row allows': [
    ['lib/x/schema.ts: schema.ts must', { 'lib/x/schema.ts': "import { a } from '../errors.ts'" }],
    ['lib/x/rules.ts: rules.ts must', { 'lib/x/rules.ts': "import { a } from '../ids.ts'" }],
    ['lib/x/rules.ts: rules.ts must', { 'lib/x/rules.ts': "import { createHash } from 'node:crypto'" }],
    ['lib/x/store.ts: store.ts must', { 'lib/x/store.ts': "import { a } from '../y/rules.ts'" }],
    ['lib/x/store.ts: store.ts must', { 'lib/x/store.ts': "import { a } from '../storage/open.ts'" }],
    ['lib/x/routes.ts: routes.ts must', { 'lib/x/routes.ts': "import { a } from './service.ts'" }],
    ['lib/x/routes.ts: routes.ts must', { 'lib/x/routes.ts': "import { a } from '../http/reply.ts'" }],
    ['', { 'lib/x/store.ts': "import { a } from './rules.ts'\nimport { b } from '../storage/sql.ts'" }],
    ['', { 'lib/http/routes.ts': "import * as x from '../x/routes.ts'" }],
  ],
  'nothing imports in a circle': [
    ['lib/x/a.ts → lib/x/b.ts → lib/x/a.ts', { 'lib/x/a.ts': "import './b.ts'", 'lib/x/b.ts': "import './a.ts'" }],
    ['', { 'lib/x/a.ts': "import './b.ts'", 'lib/x/b.ts': "import type { A } from './a.ts'" }],
    ['', { 'lib/x/a.ts': "import './b.ts'\nimport './c.ts'", 'lib/x/b.ts': "import './c.ts'", 'lib/x/c.ts': '' }],
  ],
  'packages stay behind their fences': [
    ['lib/ops/service.ts: h3 belongs', { 'lib/ops/service.ts': "import type { H3 } from 'h3'" }],
    ['lib/x/y.ts: h3 belongs', { 'lib/x/y.ts': "export let event: import('h3').H3Event" }],
    ['cli/main.ts: h3 belongs', { 'cli/main.ts': "import { toNodeHandler } from 'h3/node'" }],
    ['lib/x/store.ts: db0 belongs', { 'lib/x/store.ts': "import sqlite from 'db0/connectors/better-sqlite3'" }],
    ['lib/auth/service.ts: @node-rs/bcrypt belongs', { 'lib/auth/service.ts': "import '@node-rs/bcrypt'" }],
    ['lib/config.ts: confbox belongs', { 'lib/config.ts': "import { parseTOML } from 'confbox'" }],
    ['', { 'lib/storage/postgres.ts': "import { Pool } from 'pg'", 'lib/http/openapi.ts': "import 'confbox/yaml'" }],
  ],
  'a browser can load the client': [
    [
      'lib/x/schema.ts: the client loads it, and a browser has no node:crypto',
      { 'lib/client.ts': "import './x/schema.ts'", 'lib/x/schema.ts': "import { randomUUID } from 'node:crypto'" },
    ],
    ['lib/client.ts: the client loads it', { 'lib/client.ts': "import { H3 } from 'h3'" }],
    ['', { 'lib/client.ts': "import type { A } from './x/y.ts'", 'lib/x/y.ts': "import 'node:fs'" }],
    ['', { 'lib/client.ts': "import * as v from 'valibot'" }],
  ],
  'relative imports name the .ts file, never the build': [
    ['lib/x/y.ts: imports ../errors', { 'lib/x/y.ts': "import { a } from '../errors'" }],
    ['lib/x/y.ts: imports ../errors.js', { 'lib/x/y.ts': "import type { a } from '../errors.js'" }],
    ['cli/main.ts: imports ../dist/', { 'cli/main.ts': "import { a } from '../dist/lib/index.ts'" }],
  ],
  'the library has no default export': [
    ['lib/x/y.ts: has a default', { 'lib/x/y.ts': 'export default 1' }],
    ['lib/x/y.ts: has a default', { 'lib/x/y.ts': 'const a = 1\nexport { a as default }' }],
    ['', { 'cli/main.ts': 'export default 1', 'lib/x/y.ts': "const a = 'export default 1' // export default 2" }],
  ],
  'there is no enum and no namespace': [
    ['lib/x/y.ts: declares an enum', { 'lib/x/y.ts': 'export const enum A { b }' }],
    ['cli/main.ts: declares a namespace', { 'cli/main.ts': 'namespace A { export const b = 1 }' }],
    ['', { 'lib/x/y.ts': "declare module 'valibot' { interface A { b: 1 } }" }],
  ],
  'files are named for what they are about': [
    ['lib/x/utils.ts: a drawer', { 'lib/x/utils.ts': '' }],
    ['lib/x/index.ts: a drawer', { 'lib/x/index.ts': '' }],
    ['', { 'lib/index.ts': '', 'lib/auth/passwords.ts': '' }],
  ],
  'no file is longer than 300 lines': [
    ['lib/x/y.ts: 301 lines', { 'lib/x/y.ts': 'f()\n'.repeat(301) }],
    ['', { 'lib/x/y.ts': 'f()\n'.repeat(300) }],
  ],
}

describe('the rules can tell right from wrong', () => {
  it.each(Object.entries(RULES))('%s', (title, rule) => {
    const [broken, kept] = [EXAMPLES[title]!.filter(([why]) => why), EXAMPLES[title]!.filter(([why]) => !why)]
    const found = broken.map(([, sources]) => rule(parse(sources)))
    expect(found).toEqual(broken.map(([why]) => [expect.stringContaining(why)]))
    expect(kept.flatMap(([, sources]) => rule(parse(sources)))).toEqual([])
  })
})

interface Import {
  specifier: string
  /** A file from the root of the project, or the name of a package. */
  target: string
  atRuntime: boolean
}

interface Source {
  path: string
  text: string
  nodes: Node[]
  imports: Import[]
}

type Node = { type: string } & Record<string, unknown>
type Tree = Record<string, Source>

function parse(sources: Record<string, string>): Tree {
  return Object.fromEntries(
    Object.entries(sources).map(([path, text]) => {
      const nodes = [...walk(parseAst(text, { lang: 'ts' }))]
      return [path, { path, text, nodes, imports: nodes.flatMap((node) => toImport(path, node) ?? []) }]
    }),
  )
}

function* walk(value: unknown): Generator<Node> {
  if (typeof value !== 'object' || value === null) return
  if ('type' in value && typeof value.type === 'string') yield value as Node
  for (const child of Object.values(value)) yield* walk(child)
}

function toImport(path: string, node: Node): Import | undefined {
  const specifier = (node.source as { value?: unknown } | undefined)?.value
  if (typeof specifier !== 'string' || !/^(Import|Export|TSImportType)/.test(node.type)) return
  const atRuntime = (node.importKind ?? node.exportKind) !== 'type' && node.type !== 'TSImportType'
  if (specifier.startsWith('.')) return { specifier, target: posix.join(dirname(path), specifier), atRuntime }
  const parts = specifier.split('/', specifier.startsWith('@') ? 2 : 1)
  return { specifier, target: isBuiltin(specifier) ? specifier : parts.join('/'), atRuntime }
}

function everyNode(tree: Tree, check: (source: Source, node: Node) => string | undefined): string[] {
  return Object.values(tree).flatMap((source) => source.nodes.flatMap((node) => complain(source, check(source, node))))
}

function everyImport(tree: Tree, check: (source: Source, imported: Import) => string | undefined): string[] {
  return Object.values(tree).flatMap((source) =>
    source.imports.flatMap((imported) => complain(source, check(source, imported))),
  )
}

function complain({ path }: Source, why: string | undefined): string[] {
  return why ? [`${path}: ${why}`] : []
}

function runtimeImports(tree: Tree, path: string): Import[] {
  return tree[path]?.imports.filter((imported) => imported.atRuntime) ?? []
}

/** One line for each import that closes a circle. */
function circles(tree: Tree): string[] {
  const done = new Set<string>()
  const follow = (path: string, trail: string[]): string[] => {
    if (trail.includes(path)) return [[...trail.slice(trail.indexOf(path)), path].join(' → ')]
    if (done.has(path)) return []
    const found = runtimeImports(tree, path).flatMap(({ target }) => follow(target, [...trail, path]))
    done.add(path)
    return found
  }
  return Object.keys(tree).flatMap((path) => follow(path, []))
}

function isOurs(target: string): boolean {
  return /^(lib|cli)\//.test(target)
}

/** The number of a file's step, from 0; -1 for packages and for files that have none. */
function step(path: string): number {
  const fitting = LADDER.flatMap(([, ...patterns], index) => patterns.map((pattern) => ({ pattern, index })))
    .filter(({ pattern }) => fits(path, [pattern]))
    .sort((a, b) => stars(a.pattern) - stars(b.pattern) || a.index - b.index)
  return fitting[0]?.index ?? -1
}

function stepName(path: string): string | undefined {
  return LADDER[step(path)]?.[0]
}

function stars(pattern: string): number {
  return pattern.split(/\*+/).length
}

/** `*` stands for a name, `**` for everything below a folder. */
function fits(path: string, patterns: string[]): boolean {
  return patterns.some((pattern) => {
    const expression = pattern.replace(/[.]/g, '\\.').replace(/\*+/g, (star) => (star === '*' ? '[^/]+' : '.+'))
    return new RegExp(`^${expression}$`).test(path)
  })
}
