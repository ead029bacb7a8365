import type { Json } from './schemas.ts'

/**
 * A JSON Schema in the form that client generators agree on: constants as `enum` with a `type`, null in a list of
 * types, and a `format` without a pattern or a length, which it implies. A constant boolean is a boolean: of an `enum` with
 * one, openapi-generator makes Java that does not compile.
 */
export function toPortable(schema: Json): Json {
  const { const: constant, anyOf, ...rest } = mapValues(schema)
  if (typeof constant === 'boolean') return { type: 'boolean', ...rest }
  if (constant !== undefined) return { type: typeof constant, ...rest, enum: [constant] }
  const merged = Array.isArray(anyOf) ? mergeTypes(anyOf as Json[]) : undefined
  if (merged) return { ...merged, ...rest }
  if (typeof rest.format === 'string') for (const word of ['pattern', 'minLength', 'maxLength']) delete rest[word]
  return { ...rest, ...(anyOf !== undefined && { anyOf }) }
}

/** Keywords whose value is a schema, a list of them, or schemas by name. */
const NESTED = ['items', 'not', 'additionalProperties', 'anyOf', 'oneOf', 'allOf', 'properties']

function mapValues(schema: Json): Json {
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (!NESTED.includes(keyword) || typeof value !== 'object' || value === null) return [keyword, value]
      if (Array.isArray(value)) return [keyword, value.map((item) => toPortable(item as Json))]
      if (keyword !== 'properties') return [keyword, toPortable(value as Json)]
      return [
        keyword,
        Object.fromEntries(Object.entries(value).map(([name, item]) => [name, toPortable(item as Json)])),
      ]
    }),
  )
}

/** A plain type or null as one schema with a list of both; `undefined` for more alternatives. */
function mergeTypes(alternatives: Json[]): Json | undefined {
  const types = alternatives.flatMap(({ type }) => type as string | string[] | undefined)
  if (types.includes(undefined) || types.length > 2 || !types.includes('null')) return undefined
  const merged: Json = Object.assign({}, ...alternatives, { type: types })
  if (Array.isArray(merged.enum) && types.includes('null')) merged.enum = [...merged.enum, null]
  return merged
}
