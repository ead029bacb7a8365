import { parseAst } from 'vitest/node'
import { fileOf, USE_CASE_FILE } from '../../.ci/api/drafts.ts'
import { findDeclaration } from '../../.ci/api/sources.ts'
import { type Comment, cell, commentBefore, compact, linked, withCodes } from './library-parts.ts'
import { wrap } from './markdown.ts'
import { filesBelow, textOf } from './pages.ts'

// biome-ignore lint/suspicious/noExplicitAny: of the tree's hundred kinds of nodes a few fields of a few are read.
type Node = { type: string; start: number; end: number } & Record<string, any>

const INTRODUCTION = `<!-- Generated from the comments of the published types by test/support/generate-docs.ts: change them there. -->

# Library

Every function of \`chat-server\`, with its parameters and its errors, as an editor shows them. [Embedding](../embedding.md) explains
how to use them, [Testing](../embedding/testing.md) has \`chat-server/testing\`, and [the client](../client.md) is for pages.

All but \`parseConfig\`, \`createChatService\`, \`chat.withdraw\`, \`chat.drain\` and the loops of \`chat.events\` return promises. A call
fails with a \`ChatError\`, whose \`code\` is one of [the error codes](errors.md). Every call can also fail with \`unavailable\`,
\`internal\` and, when it changes something, \`storage_full\`. \`actor\` is the user in whose name a call is made:
[Bring your own authentication](../embedding.md#bring-your-own-authentication).
`

/**
 * The reference of the library, from the files of `lib/api`.
 *
 * @param http the page of the HTTP API, which has the shapes that both share
 */
export function libraryPage(http: string): string {
  const paths = filesBelow('lib/api').filter((path) => path.endsWith('.ts'))
  const api = Object.fromEntries(paths.map((path) => [path, textOf(path)]))
  const shapes = new Map([...http.matchAll(/^### ([A-Z]\w*)$/gm)].map(([, name]) => [name!, 'http-api.md']))
  const declared = declaredTypes(api).filter(({ name }) => !shapes.has(name))
  for (const { name } of declared) shapes.set(name, '')
  const link = (text: string) => linked(text, shapes)

  const service = interfaceIn('lib/service.ts', textOf('lib/service.ts'), 'Chat')
  const features = interfaceIn('lib/api/features.ts', textOf('lib/api/features.ts'), 'Features').members
  return [
    INTRODUCTION,
    `## Functions\n\n${FUNCTIONS.map((each) => functionEntry(each, link)).join('\n')}`,
    section('chat', service, link),
    ...features.map(({ key: { name } }) => {
      const path = `lib/api/${fileOf(`${name}${USE_CASE_FILE}`)}`
      return section(`chat.${name}`, interfaceIn(path, textOf(path)), link)
    }),
    `## Types\n\nThose of requests and responses are among [the shapes of the HTTP API](http-api.md#shapes).\n`,
    ...declared.map(({ name, text }) => `### ${name}\n\n\`\`\`typescript\n${text.trim()}\n\`\`\`\n`),
  ].join('\n')
}

/** The exported functions of `chat-server`: where each is written. */
const FUNCTIONS: [name: string, file: string][] = [
  ['parseConfig', 'lib/config/parse.ts'],
  ['openStorage', 'lib/storage/open.ts'],
  ['restoreStorage', 'lib/storage/restore.ts'],
  ['postgresConnector', 'lib/storage/postgres/connector.ts'],
  ['createChatService', 'lib/service.ts'],
]

/** What `chat-server` exports beside the types of `lib/api`. */
const OWN_TYPES: [name: string, file: string][] = [
  ['Actor', 'lib/core/actor.ts'],
  ['StorageOptions', 'lib/storage/open.ts'],
  ['StartOptions', 'lib/service.ts'],
  ['IdleOptions', 'lib/service.ts'],
  ['SharedChat', 'lib/service.ts'],
  ['Ports', 'lib/ports.ts'],
  ['Hooks', 'lib/ports.ts'],
]

function declaredTypes(api: Record<string, string>): { name: string; text: string }[] {
  const own = OWN_TYPES.map(([name, file]) => {
    const { node } = findDeclaration(name, file)!
    return { name, text: textOf(file).slice(node.start, node.end) }
  })
  const made = Object.entries(api)
    .filter(([path]) => !/-use-cases|features|entities|config/.test(path))
    .flatMap(([path, text]) => statements(path, text).map((node) => ({ node, text })))
    .filter(({ node }) => /^TS(Interface|TypeAlias)Declaration$/.test(node.type) && !/Client$/.test(node.id.name))
    .map(({ node, text }) => ({ name: node.id.name as string, text: text.slice(node.start, node.end) }))
  return [...own, ...made.toSorted((a, b) => (a.name < b.name ? -1 : 1))]
}

interface Interface {
  text: string
  members: Node[]
}

function interfaceIn(path: string, text: string, name?: string): Interface {
  const found = statements(path, text).find(
    ({ type, id }) => type === 'TSInterfaceDeclaration' && (!name || id.name === name),
  )
  return { text, members: found!.body.body }
}

function statements(path: string, text: string): Node[] {
  const { body } = parseAst(text, { lang: 'ts' }, path) as unknown as { body: Node[] }
  return body.map((each) => each.declaration ?? each)
}

type Link = (text: string) => string

function section(name: string, { text, members }: Interface, link: Link): string {
  const entries = members.map((node) =>
    entry(`${name}.${node.key.name}`, node.params, node.returnType, text, node.start, link),
  )
  return `## ${name}\n\n${entries.join('\n')}`
}

function functionEntry([name, file]: [string, string], link: Link): string {
  const text = textOf(file)
  const at = new RegExp(`^export (async )?function ${name}\\b`, 'm').exec(text)!.index
  const node = statements(file, text).find(({ type, id }) => type === 'FunctionDeclaration' && id.name === name)!
  return entry(name, node.params, node.returnType, text, at, link)
}

/** One call: what it does, its parameters, its result and its errors. */
function entry(path: string, params: Node[], result: Node, text: string, start: number, link: Link): string {
  const comment = commentBefore(text, start)
  const targets = params.map((each) => (each.type === 'AssignmentPattern' ? { ...each.left, optional: true } : each))
  const rows = targets.flatMap((each) => parameterRows(each, comment, text, link))
  const returned = compact(result.typeAnnotation, text).replace(/^Promise<(.*)>$/, '$1')
  const parts = [
    `### ${path}`,
    `\`${path}(${targets.map(({ name, optional }) => `${name}${optional ? '?' : ''}`).join(', ')})\``,
    wrap(comment.text),
    ...(rows.length > 0 ? [['| parameter | type | |', '|---|---|---|', ...rows].join('\n')] : []),
    ...(returned === 'void'
      ? []
      : [wrap(`Returns ${link(returned)}${comment.returns ? `: ${comment.returns}` : ''}.`)]),
    ...(comment.throws
      ? [wrap(`Fails ${/^as /.test(comment.throws) ? '' : 'with '}${withCodes(comment.throws)}.`)]
      : []),
    ...(comment.example ? [`\`\`\`typescript\n${comment.example}\n\`\`\``] : []),
  ]
  return `${parts.join('\n\n')}\n`
}

function parameterRows(param: Node, comment: Comment, text: string, link: Link): string[] {
  const type = param.typeAnnotation.typeAnnotation as Node
  const row = (name: string, optional: boolean, of: Node, about: string) =>
    `| \`${name}\`${optional ? '?' : ''} | ${cell(link(compact(of, text).replace(/ \| undefined$/, '')))} | ${cell(about)} |`
  if (type.type !== 'TSTypeLiteral') return [row(param.name, param.optional, type, comment.param.get(param.name) ?? '')]
  return (type.members as Node[]).map((field) =>
    row(
      `${param.name}.${field.key.name}`,
      field.optional,
      field.typeAnnotation.typeAnnotation,
      commentBefore(text, field.start).text,
    ),
  )
}
