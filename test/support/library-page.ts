import { parseAst } from 'vitest/node'
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
[Bring your own authentication](../embedding.md#bring-your-own-authentication). \`input\` is listed by its fields; its type has a name
that an editor shows and a program can import, such as \`PostInput\`.
`

/**
 * The reference of the library, from the files of `lib/api`.
 *
 * @param http the page of the HTTP API, which has the shapes that both share
 */
export function libraryPage(http: string): string {
  const api = apiTypes()
  const shapes = new Map([...http.matchAll(/^### ([A-Z]\w*)$/gm)].map(([, name]) => [name!, 'http-api.md']))
  const inputs = inputTypes(api)
  const declared = declaredTypes(api).filter(({ name }) => !shapes.has(name) && !inputs.has(name))
  for (const { name } of declared) shapes.set(name, '')
  const page = { inputs, link: (text: string) => linked(text, shapes) }

  const features = api.get('Features')!.node.body.body as Node[]
  return [
    INTRODUCTION,
    `## Functions\n\n${FUNCTIONS.map((each) => functionEntry(each, page)).join('\n')}`,
    section('chat', declarationIn('lib/service.ts', 'Chat'), page),
    ...features.map(({ key, typeAnnotation }) =>
      section(`chat.${key.name}`, api.get(typeAnnotation.typeAnnotation.typeName.name)!, page),
    ),
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
  ['StartOptions', 'lib/index.ts'],
  ['IdleOptions', 'lib/service.ts'],
  ['SharedChat', 'lib/service.ts'],
  ['Ports', 'lib/ports.ts'],
  ['Hooks', 'lib/ports.ts'],
]

/** A type, with the text that it is in. */
interface Declaration {
  name: string
  node: Node
  text: string
}

/** The types that `lib/api` declares, by name. */
function apiTypes(): Map<string, Declaration> {
  const paths = filesBelow('lib/api').filter((path) => /^(?!.*config).*\.ts$/.test(path))
  const types = paths.flatMap((path) => statements(path, textOf(path)).map((node) => ({ node, text: textOf(path) })))
  return new Map(
    types
      .filter(({ node }) => /^TS(Interface|TypeAlias)Declaration$/.test(node.type))
      .map(({ node, text }) => [node.id.name, { name: node.id.name, node, text }]),
  )
}

/** The types of the inputs, whose fields stand where they are taken. */
function inputTypes(api: Map<string, Declaration>): Map<string, Declaration> {
  const calls = [...api.values()].flatMap(({ node }) => (node.body?.body ?? []) as Node[])
  const types = calls.flatMap(({ params = [] }) =>
    (params as Node[])
      .filter(({ name }) => name === 'input')
      .map(({ typeAnnotation }) => typeAnnotation.typeAnnotation),
  )
  const names = new Set(types.map(({ typeName }) => typeName?.name))
  return new Map([...api].filter(([name]) => names.has(name)))
}

function declaredTypes(api: Map<string, Declaration>): { name: string; text: string }[] {
  const own = OWN_TYPES.map(([name, file]) => declarationIn(file, name))
  const made = [...api.values()].filter(({ name }) => !/(Client|UseCases|Features)$/.test(name))
  return [...own, ...made.toSorted((a, b) => (a.name < b.name ? -1 : 1))].map(({ name, node, text }) => ({
    name,
    text: text.slice(node.start, node.end),
  }))
}

function declarationIn(file: string, name: string): Declaration {
  const found = findDeclaration(name, file)!
  return { name, node: found.node, text: textOf(found.file) }
}

function statements(path: string, text: string): Node[] {
  const { body } = parseAst(text, { lang: 'ts' }, path) as unknown as { body: Node[] }
  return body.map((each) => each.declaration ?? each)
}

/** What a call on the page is written with. */
interface Page {
  inputs: ReadonlyMap<string, Declaration>
  link(text: string): string
}

function section(name: string, { text, node }: Declaration, page: Page): string {
  const entries = (node.body.body as Node[]).map((member) => entry(`${name}.${member.key.name}`, member, text, page))
  return `## ${name}\n\n${entries.join('\n')}`
}

function functionEntry([name, file]: [string, string], page: Page): string {
  const text = textOf(file)
  const at = new RegExp(`^export (async )?function ${name}\\b`, 'm').exec(text)!.index
  const node = statements(file, text).find(({ type, id }) => type === 'FunctionDeclaration' && id.name === name)!
  return entry(name, { ...node, start: at }, text, page)
}

/** One call: what it does, its parameters, its result and its errors. */
function entry(path: string, { start, ...call }: Node, text: string, page: Page): string {
  const comment = commentBefore(text, start)
  const targets = (call.params as Node[]).map((each) =>
    each.type === 'AssignmentPattern' ? { ...each.left, optional: true } : each,
  )
  const rows = targets.flatMap((each) => parameterRows(each, comment, text, page))
  const returned = compact(call.returnType.typeAnnotation, text).replace(/^Promise<(.*)>$/, '$1')
  const parts = [
    `### ${path}`,
    `\`${path}(${targets.map(({ name, optional }) => `${name}${optional ? '?' : ''}`).join(', ')})\``,
    wrap(comment.text),
    ...(rows.length > 0 ? [['| parameter | type | |', '|---|---|---|', ...rows].join('\n')] : []),
    ...(returned === 'void'
      ? []
      : [wrap(`Returns ${page.link(returned)}${comment.returns ? `: ${comment.returns}` : ''}.`)]),
    ...(comment.throws
      ? [wrap(`Fails ${/^as /.test(comment.throws) ? '' : 'with '}${withCodes(comment.throws)}.`)]
      : []),
    ...(comment.example ? [`\`\`\`typescript\n${comment.example}\n\`\`\``] : []),
  ]
  return `${parts.join('\n\n')}\n`
}

function parameterRows(param: Node, comment: Comment, text: string, { inputs, link }: Page): string[] {
  const type = param.typeAnnotation.typeAnnotation as Node
  const input = inputs.get(type.typeName?.name)
  const [shape, source] = input ? [input.node.body ?? input.node.typeAnnotation, input.text] : [type, text]
  const row = (name: string, optional: boolean, type: Node, about: string) =>
    `| \`${name}\`${optional ? '?' : ''} | ${cell(link(compact(type, source).replace(/ \| undefined$/, '')))} | ${cell(about)} |`
  const fields = (shape.body ?? shape.members) as Node[] | undefined
  if (!fields) return [row(param.name, param.optional, shape, comment.param.get(param.name) ?? '')]
  return fields.map((field) =>
    row(
      `${param.name}.${field.key.name}`,
      field.optional,
      field.typeAnnotation.typeAnnotation,
      commentBefore(source, field.start).text,
    ),
  )
}
