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
export const Id = v.pipe(v.string(), v.regex(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/))

/** An instant: RFC 3339, UTC, with microseconds. */
export const Instant = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
  v.metadata({ format: 'date-time' }),
)

/** The page size in a query: above `maximum` it is lowered, below 1 or not a whole number it is refused. */
export function Limit(fallback: number, maximum: number) {
  return v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.description(`At most ${maximum}; more is lowered to it`)),
    fallback,
  )
}

/** The id of an event on a conversation's stream, from which a stream can be resumed. */
export const StreamPosition = v.pipe(
  v.string(),
  v.regex(/^[0-9a-f]{16}\.\d+$/),
  v.description('Event id to resume a stream from'),
)
