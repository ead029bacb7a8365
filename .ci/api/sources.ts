import { dirname, posix } from 'node:path'
import { parseAst } from 'vitest/node'
import { commentAbove, jsDoc } from './comments.ts'
import { textOf } from './project.ts'
import type { Scope } from './scope.ts'

// biome-ignore lint/suspicious/noExplicitAny: of the tree's hundred kinds of nodes a few fields of a few are read.
type Node = { type: string; start: number; end: number } & Record<string, any>

const parsed = new Map<string, Node[]>()

/** The statements of a file, without `export` in front of them. */
function statementsOf(file: string): Node[] {
  const known = parsed.get(file)
  if (known) return known
  const { body } = parseAst(textOf(file), { lang: 'ts' }) as unknown as { body: Node[] }
  const statements = body.map((each) => (each.type === 'ExportNamedDeclaration' ? (each.declaration ?? each) : each))
  parsed.set(file, statements)
  return statements
}

/** Where a name that a file uses is declared: there, or where it is imported from; `undefined` for a global one. */
export function findDeclaration(name: string, file: string): { name: string; file: string; node: Node } | undefined {
  for (const node of statementsOf(file)) {
    if (/^TS(Interface|TypeAlias)Declaration$/.test(node.type) && node.id.name === name) return { name, file, node }
    const imported = node.specifiers?.find((each: Node) => each.local?.name === name || each.exported?.name === name)
    if (!imported || !node.source) continue
    if (!node.source.value.startsWith('.')) return undefined
    const origin = imported.imported?.name ?? imported.local.name
    return findDeclaration(origin, posix.join(dirname(file), node.source.value))
  }
  return undefined
}

/** The schema whose output a type is, as `type Message = v.InferOutput<typeof Message>` says. */
export function schemaNameOf({ node }: { node: Node }): string | undefined {
  const type = node.typeAnnotation
  const isInferred = type?.type === 'TSTypeReference' && type.typeName.right?.name === 'InferOutput'
  return isInferred ? type.typeArguments.params[0].exprName.name : undefined
}

/** The declaration of a type of a file, with its comment. */
export function copied({ name, file, node }: { name: string; file: string; node: Node }, scope: Scope): string {
  const comment = commentAbove(file, name)
  return `${comment ? jsDoc(comment) : ''}export ${rendered(node, file, scope)}\n`
}

/** What a use-case returns, as its source says it. */
export function resultOf(file: string, name: string, scope: Scope): string {
  const run = variable(file, name).init.arguments[0].properties.find((each: Node) => each.key.name === 'run').value
  return rendered(run.returnType.typeAnnotation, file, scope)
}

/** The parameters and the result of a function whose first parameter is the context. */
export function signatureOf(file: string, name: string, scope: Scope): string {
  const found = statementsOf(file).find((each) => each.type === 'FunctionDeclaration' && each.id.name === name)!
  const params = found.params.slice(1).map((param: Node) => {
    const target = param.type === 'AssignmentPattern' ? param.left : param
    const type = rendered(target.typeAnnotation.typeAnnotation, file, scope)
    return `${target.name}${param === target && !target.optional ? '' : '?'}: ${type}`
  })
  return `(${params.join(', ')}): ${rendered(found.returnType.typeAnnotation, file, scope)}`
}

function variable(file: string, name: string): Node {
  const all = statementsOf(file).flatMap((each) => (each.type === 'VariableDeclaration' ? each.declarations : []))
  return all.find((each: Node) => each.id.name === name)!
}

/** The text of a type, with the names that its parts have among the published ones. */
function rendered(node: Node, file: string, scope: Scope): string {
  const names = [...namesIn(node)].sort((a, b) => b.start - a.start)
  let text = textOf(file).slice(node.start, node.end)
  for (const { name, start, end } of names) {
    const published = scope.referTo(name, file)
    if (published) text = text.slice(0, start - node.start) + published + text.slice(end - node.start)
  }
  return text
}

/** The types that a type refers to. */
function* namesIn(value: unknown): Generator<Node> {
  if (typeof value !== 'object' || value === null) return
  const node = value as Node
  if (node.type === 'TSTypeQuery')
    throw new Error(`A published type is not to be made of a value, ${node.exprName.name}: write it out`)
  if (node.type === 'TSTypeReference' && node.typeName.type === 'Identifier') yield node.typeName
  if (node.type === 'TSInterfaceHeritage') yield node.expression
  for (const child of Object.values(node)) yield* namesIn(child)
}
