import type * as v from 'valibot'
import { ChatError } from '../../core/errors.ts'
import { entriesOf, nodeOf, type SchemaNode, unwrap } from '../../core/schema-nodes.ts'

/**
 * The query of a request as input of the schema: numbers and booleans where it requires them, text elsewhere, without
 * unknown names.
 *
 * @throws ChatError `validation_failed` when a parameter occurs twice
 */
export function readQuery(schema: v.GenericSchema, search: string): Record<string, unknown> {
  const query: Record<string, unknown> = {}
  if (!search) return query
  const params = new URLSearchParams(search)
  for (const [name, entry] of Object.entries(entriesOf(nodeOf(schema)) ?? {})) {
    const [value, ...more] = params.getAll(name)
    if (more.length > 0)
      throw new ChatError('validation_failed', { errors: [{ path: name, message: 'must be there once' }] })
    if (value !== undefined) query[name] = toTyped(entry, value)
  }
  return query
}

/** Text that cannot be converted is returned unchanged, so that validation refuses it. */
function toTyped(node: SchemaNode, value: string): unknown {
  const { type } = unwrap(node)
  if (type === 'number' && /^-?\d+(\.\d+)?$/.test(value)) return Number(value)
  return type === 'boolean' && /^(true|false)$/.test(value) ? value === 'true' : value
}
