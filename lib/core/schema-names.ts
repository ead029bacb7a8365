import type * as v from 'valibot'
import { nodeOf, type SchemaNode } from './schema-nodes.ts'

/** Computed once: the schemas of the use-cases never change. */
const computed = new WeakMap<v.GenericSchema, object>()

/**
 * The names that an input may have, for `unknownNames`. What may have any name, such as `metadata`, is not checked.
 */
export function namesIn(schema: v.GenericSchema): object {
  const known = computed.get(schema)
  if (known) return known
  const names = namesOf(nodeOf(schema)) || {}
  computed.set(schema, names)
  return names
}

function namesOf(node: SchemaNode): object | 0 {
  if (node.wrapped) return namesOf(node.wrapped)
  if (node.type === 'array') return namesOf(node.item!)
  if (node.type === 'union' || node.type === 'variant')
    return (node.options as SchemaNode[]).map(namesOf).reduce(merged)
  if (node.type !== 'object' && node.type !== 'strict_object') return 0
  return Object.fromEntries(Object.entries(node.entries!).map(([name, entry]) => [name, namesOf(entry)]))
}

/** The names of a value that has one of two shapes. */
function merged(one: object | 0, other: object | 0): object | 0 {
  if (!one || !other) return one || other
  const names: Record<string, object | 0> = { ...one }
  for (const [name, inner] of Object.entries<object | 0>(other as never)) names[name] = merged(names[name] ?? 0, inner)
  return names
}
