/** One second in microseconds, the unit of instants and of times between them. */
export const SECOND = 1_000_000

/** One minute in microseconds. */
export const MINUTE = 60 * SECOND

/** One hour in microseconds. */
export const HOUR = 60 * MINUTE

/** One day in microseconds. */
export const DAY = 24 * HOUR

/** One mebibyte in bytes. */
export const MIB = 1024 * 1024
