/** Renders JSON Schemas as Markdown tables. */

/** The parts of a JSON Schema that are read. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  format?: string
  description?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  enum?: unknown[]
  const?: unknown
  default?: unknown
  oneOf?: Schema[]
  anyOf?: Schema[]
  additionalProperties?: Schema
  minLength?: number
  maxLength?: number
  minimum?: number
  exclusiveMinimum?: number
  maximum?: number
  minItems?: number
}

type Schemas = Record<string, Schema>
type Row = [name: string, type: string, notes: string]

/** Ids and instants are on every page; events have their own page. */
const WORDS: Record<string, string> = {
  Id: 'id',
  Instant: 'instant',
  ConversationStreamEvent: '[event](events.md)',
}

/** The shapes that a text links to, and those that these link to in turn, each under its heading. */
export function describeShapes(text: string, schemas: Schemas): string[] {
  const described = new Map<string, string>()
  const look = (within: string) => {
    for (const name of Object.keys(schemas)) {
      if (described.has(name) || !within.includes(`(#${name.toLowerCase()})`)) continue
      described.set(name, describeShape(name, schemas[name]!, schemas))
      look(described.get(name)!)
    }
  }
  look(text)
  return [...described].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, shape]) => shape)
}

/** A shape under its heading: its fields, or the kind of text. */
function describeShape(name: string, schema: Schema, schemas: Schemas): string {
  const { description } = schema
  const rows = rowsOf(schema, schemas)
  const whole =
    rows.length > 0
      ? `${table(rows, 'field')}\n`
      : `${[typeOf(schema, schemas), notesOf(schema)].filter(Boolean).join('. ')}\n`
  return `### ${name}\n\n${rows.length > 0 && description ? `${description}\n\n` : ''}${whole}`
}

/** The fields of an object, with those of nested objects after a dot; for a union, those of all its members. */
export function rowsOf(schema: Schema, schemas: Schemas, prefix = ''): Row[] {
  const { $ref, properties, required = [], oneOf, anyOf = oneOf } = schema
  if ($ref) return rowsOf(schemas[nameOf($ref)]!, schemas, prefix)
  if (anyOf?.every((each) => each.properties)) {
    return anyOf.flatMap((each, index) => [
      ...(index > 0 ? [['_or_', '', ''] satisfies Row] : []),
      ...rowsOf(each, schemas, prefix),
    ])
  }
  // A nullable value.
  const only = anyOf?.filter((each) => each.type !== 'null') ?? []
  if (only.length === 1) return rowsOf(only[0]!, schemas, prefix)
  return Object.entries(properties ?? {}).flatMap(([name, each]) => {
    const row: Row = [`\`${prefix}${name}\`${required.includes(name) ? '' : '?'}`, typeOf(each, schemas), notesOf(each)]
    const list = each.items && !each.items.$ref ? rowsOf(each.items, schemas, `${prefix}${name}[].`) : []
    const inside = each.$ref ? [] : rowsOf(each, schemas, `${prefix}${name}.`)
    return [row, ...inside, ...list]
  })
}

/** A Markdown table. */
export function table(rows: Row[], heading: string): string {
  const lines = rows.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`)
  return `| ${heading} | type | |\n|---|---|---|\n${lines.join('')}`.trimEnd()
}

function typeOf(schema: Schema, schemas: Schemas): string {
  const { $ref, type, items, oneOf, anyOf = oneOf, additionalProperties } = schema
  if ($ref) {
    const name = nameOf($ref)
    return WORDS[name] ?? `[${name}](#${name.toLowerCase()})`
  }
  if ('const' in schema) return `\`${JSON.stringify(schema.const)}\``
  if (schema.enum) return schema.enum.map((each) => `\`${each}\``).join(', ')
  if (anyOf) return [...new Set(anyOf.map((each) => typeOf(each, schemas)))].join(' or ')
  if (items) return `list of ${typeOf(items, schemas)}`
  if (additionalProperties) return `object of ${typeOf(additionalProperties, schemas)}`
  if (type === 'string') return { uuid: 'id', 'date-time': 'instant' }[schema.format ?? ''] ?? 'text'
  return Array.isArray(type) ? type.join(' or ') : (type ?? 'anything')
}

function notesOf(schema: Schema): string {
  const { description, minLength, maxLength, minimum, exclusiveMinimum, maximum, minItems } = schema
  const bounds = [
    between(minLength, maxLength, ' characters'),
    between(minimum, maximum, ''),
    exclusiveMinimum === undefined ? '' : `More than ${exclusiveMinimum}.`,
    between(minItems, undefined, ' of them'),
    schema.default === undefined || schema.default === '' ? '' : `Default \`${JSON.stringify(schema.default)}\`.`,
  ]
  return [description && `${description}.`, ...bounds].filter(Boolean).join(' ')
}

function between(low: number | undefined, high: number | undefined, what: string): string {
  if (low !== undefined && high !== undefined) return `${low} to ${high}${what}.`
  if (low !== undefined) return low === 0 ? '' : `At least ${low}${what}.`
  return high === undefined ? '' : `At most ${high}${what}.`
}

function nameOf($ref: string): string {
  return $ref.slice($ref.lastIndexOf('/') + 1)
}
