import * as v from 'valibot'
import { isTitle, PATTERNS } from './characters.ts'
import { MAX_LENGTH } from './lengths.ts'

/**
 * Text that both databases store unchanged: no NUL (PostgreSQL refuses it), no lone surrogate (both change it).
 *
 * @param longest in UTF-16 units; a longer text is not checked further
 */
export function text(longest: number) {
  return v.pipe(
    v.string(),
    v.maxLength(longest, `must be at most ${longest} characters`),
    v.check(isStorable, 'must be text without NUL and lone surrogates'),
    v.metadata({ pattern: PATTERNS.storable }),
  )
}

/** A title of up to `longest` UTF-16 units, without outer spaces; an empty one is none. */
export function label(longest: number) {
  return v.pipe(
    text(longest),
    v.check(isTitle, 'must have no control, invisible or bidirectional characters'),
    v.metadata({ pattern: PATTERNS.title }),
    v.description('No control, invisible or bidirectional characters; outer spaces are removed. Empty: none'),
    v.trim(),
  )
}

/** Text that is only compared with a value the service created, such as a cursor or a token: any, up to a length. */
export function opaque(longest: number) {
  return v.pipe(v.string(), v.maxLength(longest, `must be at most ${longest} characters`))
}

/** A position in a list: an instant in microseconds, and an id. Any other text is `invalid_cursor`. */
export const Cursor = v.pipe(
  opaque(MAX_LENGTH.token),
  v.description('`next_after` of the previous page'),
  v.metadata({ pattern: '^[0-9]{1,16}_[0-9a-f\\-]{36}$' }),
)

/** Whether both databases store a text unchanged. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && isWellFormed(text)
}

/** `String.prototype.isWellFormed`, which the ES2023 types do not have yet. */
function isWellFormed(text: string): boolean {
  return !/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/.test(text)
}

/** An object, and not an array: valibot accepts an array as an object without keys. */
export function plainObject<const Entries extends v.ObjectEntries>(entries: Entries) {
  return withoutArrays(v.object(entries))
}

/** Makes a schema of objects refuse arrays. */
export function withoutArrays<Schema extends v.GenericSchema>(schema: Schema): Schema {
  const run = schema['~run'].bind(schema)
  return Object.assign(schema, {
    '~run': (...[dataset, config]: Parameters<typeof run>) =>
      run(Array.isArray(dataset.value) ? { ...dataset, value: null } : dataset, config),
  })
}

/** An identifier. The service creates UUIDv7 in lower case; no other UUID exists. */
export const Id = v.pipe(
  v.string(),
  v.length(36),
  v.regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i),
  v.metadata({ format: 'uuid' }),
)

/** Whether a text is an {@link Id}. */
export const isId = (text: string): boolean => v.is(Id, text)

/** A key of the caller's choice, by which a repeated call does its work once. */
export const IdempotencyKey = v.pipe(
  v.string(),
  v.minLength(1),
  v.maxLength(128),
  v.regex(/^[\x21-\x7E]+$/, 'must be 1 to 128 visible ASCII characters'),
)

/** An instant: RFC 3339, UTC, with microseconds. */
export const Instant = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
  v.metadata({ format: 'date-time' }),
)

/** A date of the calendar: no February 29 of a year that is no leap year, no day 30 of February, no day 31 of four months. */
const DATE =
  '(?!(..)?([02468][^048]|[13579][^26])(00)?-02-29|.*(02-3|(0[469]|11)-31))' +
  '\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])'
const TIME = 'T([01]\\d|2[0-3])(:[0-5]\\d){2}(\\.\\d{1,9})?(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d)'

/** Patterns of input that has instants: they match those that there are, as RFC 3339 writes them. */
export const INSTANT_PATTERNS = {
  day: new RegExp(`^${DATE}$`),
  instant: new RegExp(`^${DATE}${TIME}$`),
  day_or_instant: new RegExp(`^${DATE}(${TIME})?$`),
  instant_or_forever: new RegExp(`^(forever|${DATE}${TIME})$`),
}

/** The longest instant: with nine decimals and an offset. */
export const MAX_INSTANT_LENGTH = 35

/** An instant as input: any form of RFC 3339. */
export const AnyInstant = v.pipe(
  v.string(),
  v.maxLength(MAX_INSTANT_LENGTH),
  v.regex(INSTANT_PATTERNS.instant, 'must be an RFC 3339 instant'),
  v.metadata({ format: 'date-time' }),
)

/** The page size in a query: above `maximum` it is lowered; below 1 or not a whole number it is refused. */
export function Limit(fallback: number, maximum: number) {
  return v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(1),
      v.toMaxValue(maximum),
      v.description(`At most ${maximum}; larger values are lowered to it`),
    ),
    fallback,
  )
}

/** The id of an event of a conversation's stream, from which a stream can be resumed. */
export const StreamPosition = v.pipe(
  v.string(),
  v.regex(/^[0-9a-f]{16}\.\d+$/),
  v.description('Event id to resume a stream from'),
)

const TYPE = Symbol('type')

/** The schema that says the type of a schema's values: of {@link typedAs} the other one. */
export const typeSchema = <Schema extends object>(schema: Schema): Schema =>
  (schema as { [TYPE]?: Schema })[TYPE] ?? schema

/** A schema whose values have in TypeScript the type of another one, which most of them fit. */
export function typedAs<Value>(schema: v.GenericSchema, other: v.GenericSchema<Value>): v.GenericSchema<Value> {
  return Object.assign(schema, { [TYPE]: other }) as v.GenericSchema as v.GenericSchema<Value>
}

const ONE_NAMED = Symbol('one named')

/** Whether only one alternative of a schema fits at a time: it is of {@link oneNamed}. */
export const isOneNamed = (schema: object): boolean => ONE_NAMED in schema

/**
 * An alternative of objects that differ by one field each: an object with two of these fields, or none, is refused.
 * What is wrong with the field that is given is said of that field.
 */
export function oneNamed<Schema extends v.UnionSchema<v.UnionOptions, undefined>>(
  schema: Schema,
  names: readonly string[],
): Schema {
  const run = schema['~run'].bind(schema)
  return Object.assign(schema, {
    [ONE_NAMED]: true,
    '~run': (...[dataset, config]: Parameters<typeof run>) => {
      const { value } = dataset
      if (typeof value !== 'object' || value === null) return run(dataset, config)
      const present = names.filter((name) => (value as Record<string, unknown>)[name] !== undefined)
      if (present.length === 1) return schema.options[names.indexOf(present[0]!)]!['~run'](dataset, config)
      const message = `must have ${present.length === 0 ? 'one' : 'only one'} of ${names.join(', ')}`
      const issue = { kind: 'validation', type: 'one_named', input: value, expected: null, received: '', message }
      return { ...dataset, typed: false, issues: [issue] } as unknown as ReturnType<typeof run>
    },
  })
}
