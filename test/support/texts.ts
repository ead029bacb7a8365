import type * as v from 'valibot'
import { Metadata } from '../../lib/chat/conversations/schema-metadata.ts'
import { StreamedValue } from '../../lib/chat/streaming/schema.ts'
import { nodeOf, type SchemaNode, schemaOf } from '../../lib/core/schema-nodes.ts'
import { Unchecked } from '../../lib/integrations/hooks/schema.ts'
import { WebhookHeaders } from '../../lib/integrations/webhooks/schema.ts'

/** A text in an input: its path, and the schema that it must match. */
export interface TextField {
  /** `a.b[].c`; empty for an input that is itself a text. */
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

/** Schemas whose values cannot be arbitrary texts. */
const CLOSED = new Set(['number', 'boolean', 'picklist', 'literal', 'null', 'undefined'])

/** Every text that a schema accepts. @throws Error for a schema that accepts any value */
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
  if (node.type === 'record' && boundOf(schemaOf(node.key!)) !== undefined)
    return within(node.value!, path ? `${path}.value` : 'value')
  // It is measured as a whole, and stored as it is.
  if ([Metadata, StreamedValue, Unchecked, WebhookHeaders].some((measured) => node === nodeOf(measured))) return []
  if (CLOSED.has(node.type)) return []
  throw new Error(`${path}: a schema of type ${node.type} may let in texts of any length`)
}

/** The actions of a schema in the order they run, including those of nested pipes. */
function actionsOf(schema: Pick<Action, 'pipe'>): Action[] {
  return (schema.pipe ?? []).flatMap((item) => (item.kind === 'schema' ? actionsOf(item) : [item]))
}

/** The longest text that a schema processes in any way; `undefined` if it processes texts of any length. */
export function boundOf(schema: v.GenericSchema): number | undefined {
  for (const { kind, type, requirement } of actionsOf(schema as unknown as Action)) {
    if (type === 'max_length' || type === 'length') return requirement as number
    if (kind !== 'metadata' && type !== 'min_length') return undefined
  }
  return undefined
}

/** An input with a text at this path and nothing else. */
export function inputWith(path: string, text: string): unknown {
  if (!path) return text
  const [, name = '', rest = ''] = /^(\w[\w-]*|\[\])\.?(.*)$/s.exec(path)!
  return name === '[]' ? [inputWith(rest, text)] : { [name]: inputWith(rest, text) }
}
