import * as v from 'valibot'
import { PATTERNS } from './characters.ts'

/**
 * The longest text of each kind, in UTF-16 units. Unicode normalisation is quadratic on runs of combining marks: 40 kB of
 * them took 1.5 s. So every text that comes in has a longest length, which is looked at before anything else of it.
 */
export const LONGEST = {
  /** RFC 5321, section 4.5.3.1.3, without the angle brackets. */
  email: 254,
  /** More than bcrypt reads, and enough for any password to be refused for what it is. */
  password: 1024,
  name: 200,
  username: 64,
  /** The name of an API key. */
  label: 100,
  /** Why a message was edited or deleted, and what a limit profile is for. */
  remark: 500,
  title: 200,
  search: 200,
  /** Our own tokens have 43 characters, API keys three more. */
  token: 200,
  /** Identifiers of others, such as a user's at a sign-in provider (OpenID Connect Core, section 2: `sub`). */
  subject: 255,
  url: 2048,
  /** What Node takes of all headers together. */
  header: 16 * 1024,
  /** What `limits.message_bytes` can be at most; how long a message may be, that says. */
  message: 256 * 1024,
  /** What `assistant.answer_bytes` can be at most: an answer is held in memory while it is made, and is one row at its end. */
  answer: 16 * 1024 * 1024,
  /** A little less than a body under `/v1` may have, so that a longer one is told which text is too long. */
  echo: 65_000,
} as const

/**
 * Text that both databases keep as it is: no NUL (PostgreSQL refuses it), no lone surrogate (both change it).
 *
 * @param longest in UTF-16 units; of a longer text nothing else is looked at
 */
export function text(longest: number) {
  return v.pipe(
    v.string(),
    v.maxLength(longest, `must be at most ${longest} characters`),
    v.check(isStorable, 'must be text without NUL and lone surrogates'),
    v.metadata({ pattern: PATTERNS.storable }),
  )
}

/** Text that is only compared with what was given out, such as a cursor or a token: any, up to a length. */
export function opaque(longest: number) {
  return v.pipe(v.string(), v.maxLength(longest, `must be at most ${longest} characters`))
}

/** Where a list goes on: an instant in microseconds, and an id. What is no cursor at all is `invalid_cursor`. */
export const Cursor = v.pipe(
  opaque(LONGEST.token),
  v.description('`next_after` of the page before'),
  v.metadata({ pattern: '^[0-9]{1,16}_[0-9a-f\\-]{36}$' }),
)

/** Whether both databases keep a text as it is. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && isWellFormed(text)
}

/** `String.prototype.isWellFormed`, which the ES2023 types do not know yet. */
function isWellFormed(text: string): boolean {
  return !/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/.test(text)
}

/** An object, and no list: valibot takes one for an object without any of its keys. */
export function plainObject<const Entries extends v.ObjectEntries>(entries: Entries) {
  const schema = v.object(entries)
  const run = schema['~run'].bind(schema)
  return Object.assign(schema, {
    '~run': (...[dataset, config]: Parameters<typeof run>) =>
      run(Array.isArray(dataset.value) ? { ...dataset, value: undefined } : dataset, config),
  })
}

/** An identifier. Ours are UUIDv7 in lower case; any other UUID is that of something that does not exist. */
export const Id = v.pipe(
  v.string(),
  v.length(36),
  v.regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i),
  v.metadata({ format: 'uuid' }),
)

/** An instant: RFC 3339, UTC, with microseconds. */
export const Instant = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
  v.metadata({ format: 'date-time' }),
)

/** An instant as a caller may write it: any form of RFC 3339. */
export const AnyInstant = v.pipe(
  v.string(),
  v.maxLength(35),
  v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/, 'must be an RFC 3339 instant'),
  v.check((text) => isDay(text.slice(0, 10)) && !Number.isNaN(Date.parse(text)), 'must be an instant there is'),
  v.metadata({ format: 'date-time' }),
)

/** Not the 31st of February, which `Date.parse` takes for the 3rd of March. */
function isDay(day: string): boolean {
  const parsed = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(day)
}

/** The page size in a query: above `maximum` it is lowered, below 1 or not a whole number it is refused. */
export function Limit(fallback: number, maximum: number) {
  return v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(1),
      v.toMaxValue(maximum),
      v.description(`At most ${maximum}; more is lowered to it`),
    ),
    fallback,
  )
}

/** The id of an event on a conversation's stream, from which a stream can be resumed. */
export const StreamPosition = v.pipe(
  v.string(),
  v.regex(/^[0-9a-f]{16}\.\d+$/),
  v.description('Event id to resume a stream from'),
)
