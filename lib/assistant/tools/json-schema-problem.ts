const TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']

type Problem = { path: string; message: string }
type Check = (value: unknown, path: string) => Problem | undefined

/** The maximum depth of a schema. */
const MAX_DEPTH = 64

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function being(text: string, accepts: (value: unknown) => boolean): Check {
  return (value, path) => (accepts(value) ? undefined : { path, message: `must be ${text}` })
}

const number = being('a number', (value) => typeof value === 'number')
const whole = being('a whole number from 0', (value) => Number.isInteger(value) && (value as number) >= 0)
const regex = being('a regular expression', isRegex)
const name = being('a text', (value) => typeof value === 'string')
const list = being('a list', Array.isArray)
const flag = being('true or false', (value) => typeof value === 'boolean')
const names = being('a list of texts', isNames)
const type = being(
  `one of ${TYPES.join(', ')}, or a list of them`,
  (value) => (Array.isArray(value) ? value : [value]).every((each) => TYPES.includes(each)) && value !== '',
)

/** What the keywords with a value must have. */
const VALUES: Record<string, Check> = {
  ...{ type, enum: list, required: names, pattern: regex, uniqueItems: flag, format: name, $ref: name },
  ...{ minimum: number, maximum: number, exclusiveMinimum: number, exclusiveMaximum: number },
  multipleOf: being('a number above 0', (value) => typeof value === 'number' && value > 0),
  ...{ minLength: whole, maxLength: whole, minItems: whole, maxItems: whole },
  ...{ minProperties: whole, maxProperties: whole, minContains: whole, maxContains: whole },
}

/** Keywords with a schema, with schemas by name, and with a list of them. */
const SCHEMA = [
  ...['additionalProperties', 'items', 'contains', 'propertyNames', 'not', 'if', 'then', 'else'],
  ...['unevaluatedProperties', 'unevaluatedItems', 'additionalItems'],
]
const NAMED_SCHEMAS = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']
const SCHEMAS = ['allOf', 'anyOf', 'oneOf', 'prefixItems']

/**
 * What is wrong with a JSON Schema, first: a keyword of which the value is none, such as a misspelt type, would accept no
 * input, or any, without a word. Unknown keywords have no effect, as the standard has it.
 *
 * @returns where, such as `properties.order.type`, and why
 */
export function schemaProblem(schema: object): Problem | undefined {
  return problemOf(schema, '', { root: schema, depth: 0 })
}

interface Place {
  root: object
  depth: number
}

function problemOf(schema: unknown, path: string, { root, depth }: Place): Problem | undefined {
  if (typeof schema === 'boolean' && path !== '') return undefined
  if (!isObject(schema)) return { path, message: 'must be a schema: an object' }
  if (depth > MAX_DEPTH) return { path, message: 'is nested too deeply' }
  for (const [keyword, value] of Object.entries(schema)) {
    const place = path ? `${path}.${keyword}` : keyword
    const problem =
      VALUES[keyword]?.(value, place) ??
      (keyword === '$ref' ? referenceProblem(root, String(value), place) : undefined) ??
      nestedProblem(keyword, value, place, { root, depth: depth + 1 })
    if (problem) return problem
  }
  return undefined
}

function nestedProblem(keyword: string, value: unknown, path: string, place: Place): Problem | undefined {
  if (SCHEMA.includes(keyword) && !(keyword === 'items' && Array.isArray(value))) return problemOf(value, path, place)
  if (SCHEMAS.includes(keyword) || keyword === 'items') {
    if (!Array.isArray(value) || value.length === 0) return { path, message: 'must be a list of schemas' }
    return firstOf(value.entries(), (n, item) => problemOf(item, `${path}[${n}]`, place))
  }
  if (!NAMED_SCHEMAS.includes(keyword)) return undefined
  if (!isObject(value)) return { path, message: 'must be an object of schemas' }
  return firstOf(Object.entries(value), (key, item) => {
    if (keyword === 'patternProperties' && !isRegex(key)) return { path, message: 'must have regular expressions' }
    return problemOf(item, `${path}.${key}`, place)
  })
}

function firstOf<Key>(
  entries: Iterable<[Key, unknown]>,
  look: (key: Key, item: unknown) => Problem | undefined,
): Problem | undefined {
  for (const [key, item] of entries) {
    const problem = look(key, item)
    if (problem) return problem
  }
  return undefined
}

/** Only what the file has can be referred to: nothing is loaded. */
function referenceProblem(root: object, reference: string, path: string): Problem | undefined {
  const [, pointer] = /^#((?:\/.*)?)$/.exec(reference) ?? []
  if (pointer === undefined) return { path, message: 'must begin with #/, a place in this file' }
  const segments = pointer.split('/').slice(1)
  const found = segments.reduce<unknown>((value, segment) => Object(value)[unescaped(segment)], root)
  return found === undefined ? { path, message: 'must be a place that this file has' } : undefined
}

function unescaped(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~')
}

function isNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

function isRegex(value: unknown): boolean {
  try {
    return typeof value === 'string' && new RegExp(value, 'u') instanceof RegExp
  } catch {
    return false
  }
}
