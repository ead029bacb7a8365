import * as v from 'valibot'
import type { KeyNotes } from '../../lib/config/key.ts'
import { typeSchema } from '../../lib/core/schema.ts'
import type { SchemaNode } from '../../lib/core/schema-nodes.ts'
import { commentAbove, jsDoc } from './comments.ts'
import { modulesBelow } from './project.ts'
import type { Scope } from './scope.ts'

/** What is read here of a valibot schema, beside its structure. */
interface Node extends SchemaNode {
  kind: 'schema'
  pipe?: Node[]
  wrapped?: Node
  entries?: Record<string, Node>
  rest?: Node
  item?: Node
  /** Of a record: the schema of its values. */
  value?: Node
}

/** A schema that a feature exports, and so a type with a name. */
export interface NamedSchema {
  name: string
  file: string
  schema: Node
}

/** What a caller writes, or what comes back: they differ where there are defaults. */
export type Direction = 'input' | 'output'

/** As OpenAI calls them, and apart from the same words of ours. */
const RENAMED: Record<string, string> = { 'lib/openai-api/schema.ts Usage': 'CompletionUsage' }

/** What fits on a line is one, unless a field has a comment. */
const MAX_LINE = 80

const SHAPES = ['object', 'strict_object', 'variant', 'union']

/** Every object that a `schema.ts` exports, by itself and by its file and name. */
export async function loadSchemas(): Promise<Map<unknown, NamedSchema>> {
  const named = new Map<unknown, NamedSchema>()
  const isSchema = (path: string) => /(^|\/)schema(-[a-z]+)?\.ts$/.test(path) && !/^(core|config)/.test(path)
  for await (const [file, module] of modulesBelow('lib', isSchema)) {
    for (const [name, value] of Object.entries(module)) {
      const schema = value as Node
      if (schema?.kind !== 'schema' || !SHAPES.includes(schema.type)) continue
      const entry = { name: RENAMED[`${file} ${name}`] ?? name, file, schema }
      if (!named.has(schema)) named.set(schema, entry)
      named.set(`${file} ${name}`, named.get(schema)!)
    }
  }
  return named
}

/** The type of a schema, as it is written in TypeScript. */
export function typeText(schema: unknown, direction: Direction, scope: Scope): string {
  return write(schema as Node, direction, scope)
}

/** The declaration of a schema that has a name. */
export function declaration({ name, file, schema }: NamedSchema, direction: Direction, scope: Scope): string {
  const comment = commentAbove(file, name)
  const body = write(schema, direction, scope, true)
  const text = ['object', 'strict_object'].includes(schema.type)
    ? `export interface ${name} ${body}`
    : `export type ${name} = ${body}`
  return `${comment ? jsDoc(comment) : ''}${text}\n`
}

function write(shape: Node, direction: Direction, scope: Scope, isTop = false): string {
  const schema = typeSchema(shape)
  const named = scope.schemas.get(schema) ?? scope.schemas.get(schema.pipe?.[0])
  if (named && !isTop && (direction === 'output' || hasNoDefaults(named.schema))) return scope.refer(named)
  const inner = (child: Node) => write(child, direction, scope)
  switch (schema.type) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'unknown':
      return schema.type
    case 'literal':
      return quoted(schema.literal)
    case 'picklist':
      return schema.options!.map(quoted).join(' | ')
    case 'array': {
      const item = inner(schema.item!)
      return /^\w+$|^\{[\s\S]*\}$/.test(item) ? `${item}[]` : `(${item})[]`
    }
    case 'nullable':
      return `${inner(schema.wrapped!)} | null`
    case 'record':
      return `Record<string, ${inner(schema.value!)}>`
    case 'union':
    case 'variant':
      return (schema.options as Node[]).map(inner).join(' | ')
    case 'strict_object':
    case 'object': {
      const fields = Object.entries(schema.entries!).map(([name, field]) => writeField(name, field, direction, scope))
      const isShort = !isTop && fields.join('').length < MAX_LINE && !fields.some((field) => /\/\*|\n./.test(field))
      return isShort ? `{ ${fields.map((field) => field.trim()).join('; ')} }` : `{\n${fields.join('')}}`
    }
    case 'object_with_rest': {
      if (Object.keys(schema.entries!).length === 0) return `Record<string, ${inner(schema.rest!.wrapped!)}>`
      const rest = `{ [name: string]: boolean | ${inner(schema.rest!.wrapped!)}${direction === 'input' ? ' | undefined' : ''} }`
      return `${inner({ ...schema, type: 'object' })} & ${rest}`
    }
    case 'custom':
      return scope.custom!(direction)
    default:
      throw new Error(`No type is known for a schema of the type ${schema.type}`)
  }
}

/** One field of an object, with its description above it. */
function writeField(name: string, field: Node, direction: Direction, scope: Scope): string {
  const isOptional = field.type === 'optional'
  const mayMiss = isOptional && (direction === 'input' || field.default === undefined)
  const inner = isOptional ? field.wrapped! : field
  const description =
    descriptionOf(field, direction) ?? (isOptional ? descriptionOf(field.wrapped!, direction) : undefined)
  const key = /^\w+$/.test(name) ? name : quoted(name)
  const type = write(inner, direction, scope)
  // A host that compiles with `exactOptionalPropertyTypes` may hand on what it does not have.
  const missing = mayMiss && direction === 'input' && !type.startsWith('{') ? ' | undefined' : ''
  return `${description ? jsDoc(description) : ''}${key}${mayMiss ? '?' : ''}: ${type}${missing}\n`
}

function descriptionOf(schema: Node, direction: Direction): string | undefined {
  const description = v.getDescription(schema as never)
  if (description !== undefined) return description
  // A key of the configuration.
  const notes = v.getMetadata(schema as never) as Partial<KeyNotes>
  if (notes.description === undefined || direction === 'output') return notes.description
  const unit = notes.unit ? ` ${notes.unit}` : ''
  return `${notes.description}${schema.default === undefined ? '' : ` Default: \`${JSON.stringify(schema.default)}\`${unit}.`}`
}

function hasNoDefaults(schema: Node): boolean {
  const children = [
    ...(schema.entries ? Object.values(schema.entries) : []),
    ...[schema.wrapped, schema.item, schema.value].flatMap((child) => child ?? []),
    ...(schema.type === 'union' || schema.type === 'variant' ? (schema.options as Node[]) : []),
  ]
  return schema.default === undefined && children.every(hasNoDefaults)
}

function quoted(value: unknown): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : String(value)
}
