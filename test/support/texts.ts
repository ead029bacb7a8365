import type * as v from 'valibot'
import { nodeOf, type SchemaNode, schemaOf } from '../../lib/core/schema-nodes.ts'

/** A text somewhere in an input: where it is, and the schema that it has to meet. */
export interface TextField {
  /** `a.b[].c`; empty for an input that is a text itself. */
  path: string
  schema: v.GenericSchema
}

/** An action of a pipe, or a schema in it. */
interface Action {
  kind: string
  type: string
  requirement?: unknown
  pipe?: Action[]
}

/** Schemas of which no value is a text that was not thought of when they were written. */
const CLOSED = new Set(['number', 'boolean', 'picklist', 'literal', 'null', 'undefined'])

/** Every text that a schema lets in. @throws Error at a schema that would let in anything */
export function textsOf(schema: v.GenericSchema, path = ''): TextField[] {
  const node = nodeOf(schema)
  const within = (inner: SchemaNode, at = path) => textsOf(schemaOf(inner), at)
  if (node.type === 'string') return [{ path, schema }]
  if (node.entries)
    return Object.entries(node.entries).flatMap(([name, entry]) => within(entry, path ? `${path}.${name}` : name))
  if (node.wrapped) return within(node.wrapped)
  if (node.item) return within(node.item, `${path}[]`)
  if (node.type === 'union' || node.type === 'variant')
    return (node.options as SchemaNode[]).flatMap((option) => within(option))
  if (CLOSED.has(node.type)) return []
  throw new Error(`${path}: a schema of type ${node.type} may let in texts of any length`)
}

/** The actions of a schema, in the order in which they are run, those of the pipes in it included. */
function actionsOf(schema: Pick<Action, 'pipe'>): Action[] {
  return (schema.pipe ?? []).flatMap((item) => (item.kind === 'schema' ? actionsOf(item) : [item]))
}

/** The longest text that a schema looks at in any way; `undefined` when it looks at texts of any length. */
export function boundOf(schema: v.GenericSchema): number | undefined {
  for (const { kind, type, requirement } of actionsOf(schema as unknown as Action)) {
    if (type === 'max_length' || type === 'length') return requirement as number
    if (kind !== 'metadata' && type !== 'min_length') return undefined
  }
  return undefined
}

/** An input in which nothing is but a text at this path. */
export function inputWith(path: string, text: string): unknown {
  if (!path) return text
  const [, name = '', rest = ''] = /^(\w[\w-]*|\[\])\.?(.*)$/s.exec(path)!
  return name === '[]' ? [inputWith(rest, text)] : { [name]: inputWith(rest, text) }
}
