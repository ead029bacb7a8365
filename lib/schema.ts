import * as v from 'valibot'

/** Text that both databases keep as it is: no NUL (PostgreSQL refuses it), no lone surrogate (both change it). */
export const Text = v.pipe(
  v.string(),
  v.check((text) => !text.includes('\0') && isWellFormed(text), 'must be text without NUL and lone surrogates'),
)

/** `String.prototype.isWellFormed`, which the ES2023 types do not know yet. */
function isWellFormed(text: string): boolean {
  return !/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/.test(text)
}

/** An identifier: UUIDv7, lower case. */
export const Id = v.pipe(
  v.string(),
  v.regex(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
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

/** Whether a text shows anything: spaces, controls and zero-width characters alone do not. */
export function isVisible(text: string): boolean {
  return /[^\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u.test(text)
}

/** The id of an event on a conversation's stream, from which a stream can be resumed. */
export const StreamPosition = v.pipe(
  v.string(),
  v.regex(/^[0-9a-f]{16}\.\d+$/),
  v.description('Event id to resume a stream from'),
)
