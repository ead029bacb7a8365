import { readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { basename, dirname, posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseAst } from 'vitest/node'

/** The folders and files of `lib`, lowest first: at run time a file imports from its own one and from those before it. */
const ORDER = [
  ['core'],
  ['config'],
  ['storage'],
  ['metrics'],
  ['tasks', 'live', 'limits', 'files', 'backups'],
  ['cluster', 'mail', 'outgoing'],
  ['accounts', 'chat', 'assistant', 'erasure', 'merging', 'guests', 'integrations'],
  ['ops', 'protocols', 'openai-api', 'mcp', 'well-known'],
  [
    'context.ts',
    'endpoint-kinds.ts',
    'endpoint.ts',
    'create-files.ts',
    'mail-recipients.ts',
    'task-handlers.ts',
    'create-context.ts',
    'features.ts',
    'host-transaction',
    'jobs.ts',
    'start.ts',
    'service.ts',
    'endpoints.ts',
  ],
  ['http', 'index.ts'],
  ['testing', 'web'],
].flat()

/** What stands beside the order: types for all, and what stands on `core` alone. */
const BESIDE: Record<string, string[]> = {
  'ports.ts': ['core'],
  'hooks.ts': ['core'],
  'port-kinds.ts': ['core'],
  'context.ts': ['core'],
  'endpoint-kinds.ts': ['core'],
  'endpoint.ts': ['core'],
  api: ['core'],
  client: ['core'],
  receive: ['client'],
  'chat-sdk': ['core', 'client', 'receive'],
}

/** All that a role may import at run time beside `core`; `@` is its own folder. A service has the order only. */
const ROLES: Record<string, string[]> = {
  schema: ['valibot', 'lib/**/schema*.ts'],
  rules: ['lib/**/schema*.ts', 'lib/**/rules*.ts'],
  store: ['lib/**/schema*.ts', '@/rules*.ts', 'lib/storage/**', 'lib/live/log/**'],
  routes: ['valibot', 'lib/**/schema*.ts', 'lib/endpoint.ts', '@/service*.ts'],
}

/** The files that may declare use-cases. */
const SERVICE = /^lib\/.+\/service(-[a-z-]+)?\.ts$/

/** A second file of a role. */
const SECOND = /^(lib\/(?!config|storage|core).+)\/(schema|rules|store|service|routes)-[a-z-]+\.ts$/

/** Where statements stand, beside stores: the database itself, the log and its readers, what operators check. */
const SQL_PLACES = ['lib/storage/**', 'lib/live/**', 'lib/ops/**', 'lib/receive/**']

/** What of `core` is not for rules: time and chance. */
const IMPURE = ['lib/core/ids.ts', 'lib/core/time.ts']

/** The only places that name a package, in types too: ours are published without theirs. */
const FENCES: Record<string, string[]> = {
  h3: ['lib/http/**'],
  '@valibot/to-json-schema': ['lib/core/json-schema.ts', 'lib/http/**', 'lib/assistant/tools/**', 'lib/mcp/tools/**'],
  '@cfworker/json-schema': ['lib/assistant/tools/**'],
  db0: ['lib/storage/**'],
  'pg-copy-streams': ['lib/storage/postgres/**'],
  'better-sqlite3': ['lib/storage/**'],
  pg: ['lib/storage/**'],
  aws4fetch: ['lib/storage/objects/**'],
  'age-encryption': ['lib/backups/**'],
  unstorage: ['lib/storage/**'],
  '@node-rs/bcrypt': ['lib/accounts/passwords/**'],
  oauth4webapi: ['lib/accounts/oauth/**'],
  nodemailer: ['lib/mail/**'],
  citty: ['cli/**'],
  consola: ['cli/**'],
  listhen: ['cli/**'],
  confbox: ['cli/**', 'lib/http/**'],
  react: ['lib/client/react/**'],
  chat: ['lib/chat-sdk/**'],
}

/** What browsers load: our files, and no package. */
const CLIENTS = [
  'lib/client/index.ts',
  'lib/client/admin.ts',
  'lib/client/store/index.ts',
  'lib/client/store/parts.ts',
  'lib/client/ai/index.ts',
]

/** A file beside the five roles is named for what it is about, and an `index.ts` is what a package exports. */
const DRAWERS = /^(utils?|helpers?|common|misc|shared|index)\.ts$/

const ENTRIES = [
  'lib/index.ts',
  'lib/http/index.ts',
  'lib/receive/index.ts',
  'lib/chat-sdk/index.ts',
  'lib/testing/index.ts',
  'lib/web/index.ts',
  'lib/client/react/index.ts',
  ...CLIENTS,
]

/** By then a file wants to be two. */
const MAX_LINES = 300

/** The first line of a generated file: it is as long as its source requires. */
const GENERATED = '// Made from '

/** With more of it, a function is two things: each wants its own factory, or several pieces one name (`state`). */
const MAX_SHARED_STATE = 3

/** A docblock, a run of lines that begin with `//`, or a `//` behind code. */
const COMMENT = /^[ \t]*\/\*[\s\S]*?\*\/|^[ \t]*\/\/.*(?:\n[ \t]*\/\/.*)*|(?<=\S )\/\/ .*$/gm

/** A comment that begins so is only understood by a reader of the one above it. */
const LEANING = /^(The same|Of|Those) /

/** A comment names the role: a user, a caller, a process. */
const ROLELESS = /\b(whoever|whom|nobody|somebody)\b/i

/** Each rule names what breaks it, as `file: why`. */
const RULES: Record<string, (tree: Tree) => string[]> = {
  'every folder has a place in the order': (tree) =>
    Object.keys(tree)
      .filter((path) => path.startsWith('lib/') && !ORDER.includes(top(path)) && !BESIDE[top(path)])
      .map((path) => `${path}: has no place`),

  'imports go down the order': (tree) =>
    everyImport(tree, ({ path }, { target, atRuntime }) => {
      if (!atRuntime || !isOurs(target) || mayImport(path, target)) return
      return `${top(path)} must not import ${target}`
    }),

  'no two folders import each other': pairs,

  'each role imports what its row allows': (tree) =>
    everyImport(tree, ({ path }, { target, atRuntime }) => {
      const [, folder, role] = /^(lib\/.+)\/(schema|rules|store|routes)(?:-[a-z-]+)?\.ts$/.exec(path) ?? []
      if (!role || !atRuntime || /^lib\/(config|storage|core)/.test(folder!)) return
      const allowed = ROLES[role]!.map((pattern) => pattern.replace('@', folder!))
      if (role === 'rules' && IMPURE.includes(target)) return `rules must not import ${target}`
      if (!fits(target, ['lib/core/**', ...allowed])) return `${role} must not import ${target}`
    }),

  'use-cases are in a service file': (tree) =>
    everyNode(tree, ({ path }, node) => {
      const { type, name } = (node.callee ?? {}) as Partial<Node>
      if (node.type !== 'CallExpression' || type !== 'Identifier' || name !== 'useCase') return
      if (!SERVICE.test(path)) return 'declares a use-case and is no service.ts, nor service-<what>.ts'
    }),

  'SQL stands in stores': (tree) =>
    everyNode(tree, ({ path }, node) => {
      if (!isSql(node) || /\/store(-[a-z0-9-]+)?\.ts$/.test(path) || fits(path, SQL_PLACES)) return
      return 'has SQL, which belongs in a store'
    }),

  // It would become a parameter, and the query succeeds: `SELECT ?` returns the name of the column.
  'no text of the program is a value of a statement': (tree) =>
    everyNode(tree, ({ path }, node) => {
      if (!isSql(node)) return
      const { expressions } = node.quasi as { expressions: Node[] }
      const text = expressions.find((value) => isConstantText(tree, path, value))
      if (text)
        return `${(text.name as string | undefined) ?? 'a text'} is no part of a statement: sql, name or literal makes one`
    }),

  'statements of plain texts are made in storage': (tree) =>
    everyNode(tree, ({ path }, node) => {
      if (node.type !== 'ImportSpecifier' || (node.imported as Node).name !== 'statement') return
      if (!fits(path, ['lib/storage/**'])) return 'makes a statement of a text'
    }),

  'a second file of a role has a first one': (tree) =>
    Object.keys(tree).flatMap((path) => {
      const [, folder, role] = SECOND.exec(path) ?? []
      if (!role || tree[`${folder}/${role}.ts`]) return []
      return [`${path}: is the first of its folder, which is ${role}.ts`]
    }),

  'nothing imports in a circle': circles,

  'packages stay behind their fences': (tree) =>
    everyImport(tree, ({ path }, { target }) => {
      if (FENCES[target] && !fits(path, FENCES[target])) return `${target} belongs in ${FENCES[target].join(', ')}`
    }),

  'a browser can load the client': (tree) => {
    const reached = new Set(CLIENTS)
    for (const path of reached) for (const { target } of runtimeImports(tree, path)) reached.add(target)
    return everyImport(tree, ({ path }, { target, atRuntime }) => {
      if (!reached.has(path) || !atRuntime || isOurs(target)) return
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
      .filter((path) => !ENTRIES.includes(path) && DRAWERS.test(basename(path)))
      .map((path) => `${path}: a drawer for anything`),

  [`no file is longer than ${MAX_LINES} lines`]: (tree) =>
    Object.values(tree)
      .filter(({ text }) => !text.startsWith(GENERATED))
      .map(({ path, text }) => ({ path, lines: text.trimEnd().split('\n').length }))
      .filter(({ lines }) => lines > MAX_LINES)
      .map(({ path, lines }) => `${path}: ${lines} lines`),

  [`a function shares at most ${MAX_SHARED_STATE} pieces of changing state with those inside it`]: (tree) =>
    everyNode(tree, (_, node) => {
      const count = isFunction(node) ? sharedStateOf(node).length : 0
      if (count > MAX_SHARED_STATE) return `${nameOf(node) ?? 'a function'} shares ${count}`
    }),

  'comments stand alone': (tree) =>
    everyComment(tree, (comment) => {
      const [start] = LEANING.exec(comment) ?? []
      if (start) return `a comment begins "${start.trim()}"`
    }),

  'comments name roles': (tree) =>
    everyComment(tree, (comment) => {
      // A word of the API, such as a value of a setting, is in backticks.
      const [word] = ROLELESS.exec(comment.replace(/`[^`]*`/g, '')) ?? []
      if (word) return `a comment has "${word}"`
    }),
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
  'every folder has a place in the order': [
    ['lib/anything/a.ts: has no place', { 'lib/anything/a.ts': '' }],
    ['lib/anything.ts: has no place', { 'lib/anything.ts': '' }],
    ['', { 'lib/context.ts': '', 'lib/chat/x/a.ts': '', 'lib/client/a.ts': '', 'cli/commands/a.ts': '' }],
  ],
  'imports go down the order': [
    [
      'lib/chat/x/service.ts: chat must not import lib/http',
      { 'lib/chat/x/service.ts': "import '../../http/send.ts'" },
    ],
    ['lib/service.ts: service.ts must not import cli', { 'lib/service.ts': "export { a } from '../cli/main.ts'" }],
    ['lib/chat/x/y.ts: chat must not', { 'lib/chat/x/y.ts': "await import('../../service.ts')" }],
    [
      'lib/live/hub/hub.ts: live must not',
      { 'lib/live/hub/hub.ts': "import { a } from '../../chat/events/service.ts'" },
    ],
    ['lib/client/a.ts: client must not', { 'lib/client/a.ts': "import '../chat/x/schema.ts'" }],
    ['lib/context.ts: context.ts must not', { 'lib/context.ts': "export { a } from './live/hub/hub.ts'" }],
    // With `verbatimModuleSyntax` the statement stays, and with it the import.
    ['lib/core/errors.ts: core must', { 'lib/core/errors.ts': "import { type A } from '../live/hub/hub.ts'" }],
    [
      '',
      {
        'lib/chat/x/service.ts': "import type { A } from '../../service.ts'\nexport type { B } from '../../http/x.ts'",
      },
    ],
    [
      '',
      { 'lib/chat/x/routes.ts': "import { route } from '../../endpoint.ts'", 'cli/a.ts': "import '../lib/http/x.ts'" },
    ],
  ],
  'no two folders import each other': [
    ['lib/chat/x ↔ lib/chat/y', { 'lib/chat/x/a.ts': "import '../y/b.ts'", 'lib/chat/y/c.ts': "import '../x/d.ts'" }],
    ['', { 'lib/chat/x/a.ts': "import '../y/b.ts'", 'lib/chat/y/c.ts': "import type { A } from '../x/d.ts'" }],
    ['', { 'lib/http/a.ts': "import './openapi/b.ts'", 'lib/http/openapi/c.ts': "import '../d.ts'" }],
  ],
  'each role imports what its row allows': [
    ['lib/chat/x/schema.ts: schema must', { 'lib/chat/x/schema.ts': "import { a } from '../y/rules.ts'" }],
    ['lib/chat/x/rules.ts: rules must', { 'lib/chat/x/rules.ts': "import { a } from '../../core/ids.ts'" }],
    ['lib/chat/x/rules.ts: rules must', { 'lib/chat/x/rules.ts': "import { createHash } from 'node:crypto'" }],
    ['lib/chat/x/store.ts: store must', { 'lib/chat/x/store.ts': "import { a } from '../y/rules.ts'" }],
    ['lib/chat/x/store-y.ts: store must', { 'lib/chat/x/store-y.ts': "import { a } from '../../live/hub/hub.ts'" }],
    ['lib/chat/x/routes.ts: routes must', { 'lib/chat/x/routes.ts': "import { a } from '../y/service.ts'" }],
    ['lib/chat/x/routes.ts: routes must', { 'lib/chat/x/routes.ts': "import { a } from './store.ts'" }],
    ['', { 'lib/chat/x/routes.ts': "import { a } from './service-own.ts'\nimport { route } from '../../endpoint.ts'" }],
    ['', { 'lib/chat/x/store.ts': "import { a } from './rules.ts'\nimport { b } from '../../storage/sql.ts'" }],
    ['', { 'lib/endpoints.ts': "import * as x from './chat/x/routes.ts'" }],
  ],
  'use-cases are in a service file': [
    ['lib/chat/x/own.ts: declares a use-case', { 'lib/chat/x/own.ts': 'export const list = useCase({})' }],
    ['', { 'lib/chat/x/service.ts': 'useCase({})', 'lib/chat/x/service-own.ts': 'useCase({})' }],
    ['', { 'lib/chat/x/own.ts': 'export const list = { useCase: 1 }' }],
  ],
  'SQL stands in stores': [
    ['lib/chat/x/service.ts: has SQL', { 'lib/chat/x/service.ts': 'db.get(sql`SELECT 1`)' }],
    [
      '',
      {
        'lib/chat/x/store-own.ts': 'db.get(sql`SELECT 1`)',
        'lib/live/log/log.ts': 'db.get(sql`SELECT 1`)',
        'lib/chat/x/service.ts': 'const sql = `SELECT 1`',
      },
    ],
  ],
  'no text of the program is a value of a statement': [
    ['lib/x/store.ts: A is no part', { 'lib/x/store.ts': `const A = 'id, a'\nsql\`SELECT \${A} FROM x\`` }],
    ['lib/x/store.ts: A is no part', { 'lib/x/store.ts': `const A = \`a \${1}\`\nsql\`SELECT \${A} FROM x\`` }],
    ['lib/x/store.ts: a text is', { 'lib/x/store.ts': `sql\`SELECT \${'id'} FROM x\`` }],
    [
      'lib/x/store.ts: B is no part',
      {
        'lib/x/store.ts': `import { A as B } from './y.ts'\nsql\`SELECT \${B}\``,
        'lib/x/y.ts': `export const A = 'a'`,
      },
    ],
    [
      '',
      {
        'lib/x/store.ts': `import { B } from './y.ts'
          const [A, N] = [sql\`a\`, 1]
          const f = (a, c) => sql\`SELECT \${A}, \${B}, \${a}, \${c.d}, \${N}, \${\`\${a}%\`}\``,
        'lib/x/y.ts': 'export const B = sql`b`',
      },
    ],
  ],
  'statements of plain texts are made in storage': [
    ['lib/x/store.ts: makes a statement', { 'lib/x/store.ts': "import { statement } from '../storage/sql.ts'" }],
    ['', { 'lib/storage/on-rows.ts': "import { statement } from './sql.ts'" }],
  ],
  'a second file of a role has a first one': [
    ['lib/chat/x/service-own.ts: is the first', { 'lib/chat/x/service-own.ts': '' }],
    ['', { 'lib/chat/x/service.ts': '', 'lib/chat/x/service-own.ts': '', 'lib/config/schema-oauth.ts': '' }],
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
    ['lib/chat/x/service.ts: @node-rs/bcrypt belongs', { 'lib/chat/x/service.ts': "import '@node-rs/bcrypt'" }],
    ['lib/config/parse.ts: confbox belongs', { 'lib/config/parse.ts': "import { parseTOML } from 'confbox'" }],
    [
      '',
      {
        'lib/storage/postgres/pool.ts': "import { Pool } from 'pg'",
        'lib/http/openapi/build.ts': "import 'confbox/yaml'",
      },
    ],
  ],
  'a browser can load the client': [
    [
      'lib/core/ids.ts: the client loads it, and a browser has no node:crypto',
      {
        'lib/client/index.ts': "import '../core/ids.ts'",
        'lib/core/ids.ts': "import { randomUUID } from 'node:crypto'",
      },
    ],
    ['lib/client/index.ts: the client loads it', { 'lib/client/index.ts': "import * as v from 'valibot'" }],
    ['', { 'lib/client/index.ts': "import type { A } from '../x/y.ts'", 'lib/x/y.ts': "import 'node:fs'" }],
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
    ['', { 'lib/index.ts': '', 'lib/client/index.ts': '', 'lib/accounts/passwords/hash.ts': '' }],
  ],
  'no file is longer than 300 lines': [
    ['lib/x/y.ts: 301 lines', { 'lib/x/y.ts': 'f()\n'.repeat(301) }],
    ['', { 'lib/x/y.ts': 'f()\n'.repeat(300), 'lib/api/y.ts': `// Made from x\n${'f()\n'.repeat(300)}` }],
  ],
  'a function shares at most 3 pieces of changing state with those inside it': [
    [
      'lib/x/y.ts: a shares 4',
      {
        'lib/x/y.ts': `function a() {
          let b = 0
          let c = 0
          const [d, e] = [new Map(), 1]
          const f = new Map()
          const g = []
          return () => [b, c, f, g, d, e]
        }`,
      },
    ],
    [
      'lib/x/y.ts: a shares 4',
      {
        'lib/x/y.ts': 'function a({ z }) { let [b, [c]] = z; let { d, e: { f = 1 } } = z; return () => [b, c, d, f] }',
      },
    ],
    // Three; a table that is not empty; and what no other function sees.
    [
      '',
      {
        'lib/x/y.ts': `function a() {
          let b = 0
          let c = 0
          const f = new Set()
          const g = [1]
          let h = 0
          h++
          return () => [b, c, f, g]
        }`,
      },
    ],
  ],
  'comments stand alone': [
    ['lib/x/y.ts: a comment begins "The same"', { 'lib/x/y.ts': '/** The same for a file. */\nf()' }],
    [
      'lib/x/y.ts: a comment begins "Of"',
      { 'lib/x/y.ts': 'interface A {\n  /**\n   * Of an answer.\n   */\n  b: 1\n}' },
    ],
    ['cli/a.ts: a comment begins "Those"', { 'cli/a.ts': 'f()\n// Those that wait\n// for it.\nf()' }],
    ['cli/a.ts: a comment begins "Of"', { 'cli/a.ts': 'f() // Of two, the first.' }],
    [
      '',
      {
        'lib/x/y.ts': "/**\n * The first line ends before\n * Of and Those \n */\nf('/** The same', '// Of a')",
        'cli/a.ts': '// The first line\n// Of two.\nf()\n// The sameness. Often.',
      },
    ],
  ],
  'comments name roles': [
    ['lib/x/y.ts: a comment has "nobody"', { 'lib/x/y.ts': '/**\n * A text that\n * nobody reads. */\nf()' }],
    ['lib/x/y.ts: a comment has "Whoever"', { 'lib/x/y.ts': 'f() // Whoever calls.' }],
    ['cli/a.ts: a comment has "whom"', { 'cli/a.ts': '// The user whom it concerns.' }],
    ['', { 'lib/x/y.ts': "// `nobody`: no participant.\nf('nobody')", 'cli/a.ts': '/** Users who read. */' }],
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

function isSql({ type, tag }: Node): boolean {
  return type === 'TaggedTemplateExpression' && (tag as Node).name === 'sql'
}

/** Whether a value is a text that the program has: written there, or as a constant of this file or of one it imports. */
function isConstantText(tree: Tree, path: string, value: Node): boolean {
  if (value.type === 'Literal') return typeof value.value === 'string'
  if (value.type !== 'Identifier') return false
  const nodes = tree[path]?.nodes ?? []
  const declared = nodes[0]?.body as Node[]
  const constants = declared.flatMap((each) =>
    each.type === 'ExportNamedDeclaration' ? [each.declaration as Node] : each,
  )
  for (const each of constants) {
    if (each?.type === 'VariableDeclaration')
      for (const { id, init } of each.declarations as { id: Node; init?: Node | null }[])
        if (id.name === value.name)
          return init?.type === 'TemplateLiteral' || (init?.type === 'Literal' && typeof init.value === 'string')
    if (each?.type !== 'ImportDeclaration') continue
    for (const { local, imported } of each.specifiers as { local: Node; imported?: Node }[])
      if (local.name === value.name && imported)
        return isConstantText(tree, toImport(path, each)!.target, { type: 'Identifier', name: imported.name })
  }
  return false
}

function isFunction({ type }: Node): boolean {
  return ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'].includes(type)
}

/** The name of a declared function. */
function nameOf({ id }: Node): string | undefined {
  return (id as { name?: string } | null | undefined)?.name
}

/** The variables of a function that change, and that functions inside it use: each `let`, and what begins empty. */
function sharedStateOf({ body }: Node): string[] {
  const statements = ((body as Node).body ?? []) as Node[]
  if (!Array.isArray(statements)) return []
  const names = statements.flatMap((statement) => (statement.type === 'VariableDeclaration' ? changing(statement) : []))
  const inner = names.length > MAX_SHARED_STATE ? [...innerFunctions(statements)] : []
  const used = new Set(inner.flatMap((each) => [...walk(each)].map(({ type, name }) => type === 'Identifier' && name)))
  return names.filter((name) => used.has(name))
}

function changing({ kind, declarations }: Node): string[] {
  const all = declarations as { id: Node; init?: Node | null }[]
  if (kind === 'let') return all.flatMap(({ id }) => [...namesIn(id)])
  return all.flatMap(({ id, init }) =>
    id.type === 'Identifier' && init && beginsEmpty(init) ? [id.name as string] : [],
  )
}

/** The names that a declaration declares: one, or those of a pattern. */
function* namesIn(declared: Node): Generator<string> {
  switch (declared.type) {
    case 'Identifier':
      return yield declared.name as string
    case 'AssignmentPattern':
      return yield* namesIn(declared.left as Node)
    case 'ObjectPattern':
      for (const { value, argument } of declared.properties as { value?: Node; argument?: Node }[])
        yield* namesIn((value ?? argument)!)
      return
    case 'ArrayPattern':
      for (const element of declared.elements as (Node | null)[]) if (element) yield* namesIn(element)
  }
}

function beginsEmpty({ type, callee, arguments: given, elements }: Node): boolean {
  if (type === 'ArrayExpression') return (elements as unknown[]).length === 0
  const name = (callee as { name?: string } | undefined)?.name ?? ''
  return type === 'NewExpression' && /^(Weak)?(Map|Set)$/.test(name) && (given as unknown[]).length === 0
}

/** The outermost functions in a value. */
function* innerFunctions(value: unknown): Generator<Node> {
  if (typeof value !== 'object' || value === null) return
  if ('type' in value && isFunction(value as Node)) yield value as Node
  else for (const child of Object.values(value)) yield* innerFunctions(child)
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

/** Checks the text of each comment; generated files repeat texts of the API. */
function everyComment(tree: Tree, check: (comment: string) => string | undefined): string[] {
  const written = Object.values(tree).filter(({ text }) => !text.startsWith(GENERATED))
  return written.flatMap((source) =>
    [...source.text.matchAll(COMMENT)].flatMap(([comment]) => {
      const text = comment.replace(/^\s*(\/\*\*?|\*\/|\*|\/\/)|\*\/\s*$/gm, '').replace(/\s+/g, ' ')
      return complain(source, check(text.trim()))
    }),
  )
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

/** The folder of `lib` that a file is in, or its name where it is in none. */
function top(path: string): string {
  return path.split('/')[1]!
}

function mayImport(path: string, target: string): boolean {
  if (path.startsWith('cli/')) return true
  if (target.startsWith('cli/')) return false
  const [from, to] = [top(path), top(target)]
  if (from === to) return true
  if (BESIDE[from]) return BESIDE[from].includes(to)
  return BESIDE[to] ? to !== 'client' || from === 'testing' : ORDER.indexOf(to) < ORDER.indexOf(from)
}

/** Folders that import each other at run time; one that is inside the other is part of it. */
function pairs(tree: Tree): string[] {
  const found = new Set<string>()
  for (const { path, imports } of Object.values(tree))
    for (const { target, atRuntime } of imports)
      if (atRuntime && isOurs(target)) found.add(`${dirname(path)} ${dirname(target)}`)
  return [...found].flatMap((each) => {
    const [from, to] = each.split(' ') as [string, string]
    const isInside = `${from}/`.startsWith(`${to}/`) || `${to}/`.startsWith(`${from}/`)
    return from < to && !isInside && found.has(`${to} ${from}`) ? [`${from} ↔ ${to}`] : []
  })
}

/** `*` stands for a name, `**` for everything below a folder. */
function fits(path: string, patterns: string[]): boolean {
  return patterns.some((pattern) => {
    const expression = pattern.replace(/[.]/g, '\\.').replace(/\*+/g, (star) => (star === '*' ? '[^/]*' : '.+'))
    return new RegExp(`^${expression}$`).test(path)
  })
}
