import { oneLine } from '../output.ts'

/** The fields of a log line. */
export type Fields = Record<string, unknown>

/** Formats one line without its line end, at most 8 KiB, whatever the message and the fields contain. */
export type ToLine = (date: Date, level: string, message: string, fields?: Fields) => string

type Replacer = (name: string, value: unknown) => unknown

/** Log collectors may cut longer lines, and half a JSON object cannot be parsed. */
const MAX_LINE_BYTES = 8 * 1024

/** The lengths to which texts are cut, in turn, until the line fits. */
const CUTS = [1024, 128, 32]

/** Formats each line as one JSON object. */
export function createJsonLines(): ToLine {
  let last = { ms: Number.NaN, iso: '' }
  /** Cached, because many lines share a millisecond. */
  const isoOf = (date: Date) => {
    const ms = date.getTime()
    if (ms !== last.ms) last = { ms, iso: date.toISOString() }
    return last.iso
  }
  return (date, level, message, fields = {}) => {
    const time = isoOf(date)
    const whole = (text: string, fields: Fields, replacer: Replacer) => {
      // Twice: the first sets the order, the second stops a field from replacing the time or the message.
      const head = { time, level, message: text }
      return JSON.stringify({ ...head, ...fields, ...head }, replacer)
    }
    return plainJson(time, level, message, fields) ?? fitted(message, fields, whole)
  }
}

/** Formats lines for a terminal. */
export const toPrettyLine: ToLine = (date, level, message, fields = {}) =>
  fitted(message, fields, (text, fields, replacer) => {
    const present = Object.entries(fields).filter(([, value]) => value !== undefined)
    const pairs = present.map(([name, value]) => ` ${name}=${JSON.stringify(value, replacer)}`)
    return `${date.toTimeString().slice(0, 8)} ${level.padEnd(5)} ${text}${pairs.join('')}`
  })

/** Short ASCII texts that need no escaping in JSON or on a terminal. */
const PLAIN = /^[ !#-[\]-~]{0,200}$/

/** This many plain texts always fit into a line. */
const MAX_PLAIN = 16

/**
 * The JSON line of a few plain texts and numbers, in a tenth of the time: a busy service writes thousands a second.
 *
 * @returns `undefined` for anything else
 */
function plainJson(time: string, level: string, message: string, fields: Fields): string | undefined {
  if (!PLAIN.test(message)) return undefined
  let line = `{"time":"${time}","level":"${level}","message":"${message}"`
  let remaining = MAX_PLAIN
  for (const name in fields) {
    const value = fields[name]
    if (--remaining < 0 || !PLAIN.test(name) || name === 'time' || name === 'level' || name === 'message')
      return undefined
    if (typeof value === 'string' && PLAIN.test(value)) line += `,"${name}":"${value}"`
    else if (typeof value === 'number' && Number.isFinite(value)) line += `,"${name}":${value}`
    else return undefined
  }
  return `${line}}`
}

/** One line from `render`, with shorter and shorter texts until it fits, finally without its fields. */
function fitted(
  message: string,
  fields: Fields,
  render: (message: string, fields: Fields, replacer: Replacer) => string,
): string {
  for (const length of [Number.POSITIVE_INFINITY, ...CUTS]) {
    const replacer: Replacer = (name, value) => cutIfText(toSerializable(name, value), length)
    const line = oneLine(render(cut(message, length), fields, replacer))
    if (Buffer.byteLength(line) <= MAX_LINE_BYTES) return line
  }
  return oneLine(render(cut(message, CUTS.at(-1)!), { cut: true }, toSerializable))
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text
}

function cutIfText(value: unknown, length: number): unknown {
  return typeof value === 'string' ? cut(value, length) : value
}

/** Replaces values that JSON cannot represent: bigints, and errors with their cause and stack. */
function toSerializable(_name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (!(value instanceof Error)) return value
  const { name, message, stack, cause } = value
  const frames = stack?.split('\n').flatMap((line) => /^\s+at (.+)/.exec(line)?.[1] ?? [])
  return { name, message, ...('code' in value && { code: value.code }), frames, cause }
}
