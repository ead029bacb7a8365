import * as v from 'valibot'

/** The maximum number of former values of a secret that are still taken: each is tried in turn. */
const MAX_PREVIOUS = 8

/** Any text. */
export const text = v.string('must be a text')

/** Any non-empty text. */
export const someText = v.pipe(text, v.nonEmpty('must not be empty'))

/** True or false. */
export const flag = v.boolean('must be true or false')

/** The longest delay a Node timer supports: a longer one fires at once. */
export const MAX_TIMER_SECONDS = Math.floor((2 ** 31 - 1) / 1000)

/** The documentation of a key besides its type. */
export interface KeyNotes {
  /** Why the key exists and what a change does. */
  description: string
  unit?: 'milliseconds' | 'seconds' | 'bytes' | 'hours' | 'days'
  /** `password`: a URL that is printed without its password; `header`: a header that is printed without its value. */
  secret?: true | 'password' | 'header'
  /**
   * Whether a running service takes another value when its configuration is reloaded; `credentials`: a URL of which the user
   * and the password may differ.
   */
  reload?: true | 'credentials'
}

/** A configurable value: its type, its default, and its description. */
export function key<T extends v.GenericSchema, const D extends v.InferInput<T> | undefined>(
  schema: T,
  fallback: D,
  description: string,
  notes: Omit<KeyNotes, 'description'> = {},
) {
  return v.pipe(v.optional(schema, fallback), v.metadata({ description, ...notes }))
}

/** A {@link key} that can be reloaded. */
export function reloadableKey<T extends v.GenericSchema, const D extends v.InferInput<T> | undefined>(
  schema: T,
  fallback: D,
  description: string,
  notes: Omit<KeyNotes, 'description'> = {},
) {
  return key<T, D>(schema, fallback, description, { ...notes, reload: true })
}

/** Keys under one heading. */
export function section<const T extends v.ObjectEntries>(entries: T) {
  return v.optional(v.object(entries), {} as never)
}

/** A whole number, both bounds included. */
export function integer(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`
  return v.pipe(v.number(message), v.integer(message), v.minValue(min, message), v.maxValue(max, message))
}

/** One of a few values. */
export function oneOf<const T extends readonly string[]>(...choices: T) {
  return v.picklist(choices, `must be one of ${choices.join(', ')}`)
}

/** Former values of a secret, which are still taken while others have them. */
export function previousSecrets<T extends v.GenericSchema<string, string>>(secret: T) {
  const message = `must be a list of at most ${MAX_PREVIOUS} texts`
  return v.pipe(v.array(secret, message), v.maxLength(MAX_PREVIOUS, message))
}

/** Whether a value is a plain object: properties of a prototype were not configured. */
export function isSection(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
