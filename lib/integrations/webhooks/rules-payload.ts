import type * as v from 'valibot'
import { Id, Instant } from '../../core/schema.ts'

type Schema = v.GenericSchema & {
  entries?: Record<string, Schema>
  item?: Schema
  options?: readonly unknown[]
  wrapped?: Schema
  pipe?: readonly unknown[]
  literal?: unknown
}

/**
 * What of a value has no text: ids, numbers, instants, and words of a closed list. What a schema does not name is left out.
 *
 * @returns `undefined` where nothing of a value stays
 */
export function toThin(schema: v.GenericSchema, value: unknown): unknown {
  const { type, entries, item, options, wrapped } = schema as Schema
  if (value === undefined || value === null) return undefined
  if (wrapped) return toThin(wrapped, value)
  switch (type) {
    case 'object':
      return thinObject(entries ?? {}, value as Record<string, unknown>)
    case 'array':
      return (value as unknown[]).flatMap((each) => toThin(item!, each) ?? [])
    case 'variant':
      return toThinVariant(options as readonly Schema[], value as Record<string, unknown>)
    case 'number':
    case 'boolean':
    case 'literal':
    case 'picklist':
      return value
    default:
      return isTextless(schema) ? value : undefined
  }
}

function thinObject(entries: Record<string, Schema>, value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(entries).flatMap(([name, schema]) => {
      const thin = toThin(schema, value[name])
      return thin === undefined ? [] : [[name, thin]]
    }),
  )
}

/** A value of one of several kinds: of the one whose words it has. */
function toThinVariant(options: readonly Schema[], value: Record<string, unknown>): unknown {
  const option = options.find(({ entries = {} }) =>
    Object.entries(entries).every(([name, { literal }]) => literal === undefined || literal === value[name]),
  )
  return option && toThin(option, value)
}

/** Whether a text is an id or an instant; with a description, its schema begins with that of one. */
function isTextless(schema: unknown): boolean {
  if (schema === Id || schema === Instant) return true
  const [first] = (schema as Schema).pipe ?? []
  return first !== undefined && isTextless(first)
}

/** The path at which the subject of an event is read: its message, or else its conversation. */
export function pathOf(
  data: Readonly<Record<string, unknown>>,
  conversationId: string | undefined,
): string | undefined {
  const { message, message_id, root_id } = data as { message?: { id?: string }; message_id?: string; root_id?: string }
  const id = message?.id ?? message_id ?? root_id
  if (id !== undefined) return `/api/messages/${id}`
  return conversationId === undefined ? undefined : `/api/conversations/${conversationId}`
}
