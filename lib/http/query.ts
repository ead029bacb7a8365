import type * as v from 'valibot'
import { ChatError } from '../errors.ts'

interface SchemaNode {
  type: string
  wrapped?: SchemaNode
  entries?: Record<string, SchemaNode>
}

/**
 * The query of a request as the schema's input: numbers where it wants numbers, text elsewhere, unknown names left out.
 *
 * @throws ChatError `validation_failed` when a parameter is there twice
 */
export function readQuery(schema: v.GenericSchema, search: string): Record<string, unknown> {
  const query: Record<string, unknown> = {}
  if (!search) return query
  const params = new URLSearchParams(search)
  for (const [name, entry] of Object.entries((schema as unknown as SchemaNode).entries ?? {})) {
    const [value, ...more] = params.getAll(name)
    if (more.length > 0)
      throw new ChatError('validation_failed', { errors: [{ path: name, message: 'must be there once' }] })
    if (value !== undefined) query[name] = isNumber(entry) && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value
  }
  return query
}

function isNumber(node: SchemaNode): boolean {
  return (node.wrapped ?? node).type === 'number'
}
