import { oneLine } from '../output.ts'

/** What goes with a message. */
export type Fields = Record<string, unknown>

/** One line without its end, 8 KiB at most, whatever is in the message and the fields. */
export type ToLine = (date: Date, level: string, message: string, fields?: Fields) => string

type Replacer = (name: string, value: unknown) => unknown

/** Whoever collects the lines may cut longer ones, and half an object is none. */
const MAX_LINE_BYTES = 8 * 1024

/** How many characters of each text are kept, in a line that would be too long with more. */
const CUTS = [1024, 128, 32]

/** Makes lines that are one JSON object each. */
export function createJsonLines(): ToLine {
  let last = { ms: Number.NaN, iso: '' }
  /** Lines come many to a millisecond. */
  const isoOf = (date: Date) => {
    const ms = date.getTime()
    if (ms !== last.ms) last = { ms, iso: date.toISOString() }
    return last.iso
  }
  return (date, level, message, fields = {}) => {
    const time = isoOf(date)
    const whole = (text: string, fields: Fields, replacer: Replacer) => {
      // Twice: the first keeps the order, the second keeps a field from passing for the time or the message.
      const head = { time, level, message: text }
      return JSON.stringify({ ...head, ...fields, ...head }, replacer)
    }
    return plainJson(time, level, message, fields) ?? fitted(message, fields, whole)
  }
}

/** For people. */
export const toPrettyLine: ToLine = (date, level, message, fields = {}) =>
  fitted(message, fields, (text, fields, replacer) => {
    const pairs = Object.entries(fields).map(([name, value]) => ` ${name}=${JSON.stringify(value, replacer)}`)
    return `${date.toTimeString().slice(0, 8)} ${level.padEnd(5)} ${text}${pairs.join('')}`
  })

/** Short texts of ASCII that JSON and a terminal take as they are. */
const PLAIN = /^[ !#-[\]-~]{0,200}$/

/** So many plain texts cannot fill a line. */
const MAX_PLAIN = 16

/**
 * The same line for a few plain texts and numbers, in a tenth of the time: a busy service writes thousands a second.
 *
 * @returns `undefined` for anything else
 */
function plainJson(time: string, level: string, message: string, fields: Fields): string | undefined {
  if (!PLAIN.test(message)) return undefined
  let line = `{"time":"${time}","level":"${level}","message":"${message}"`
  let room = MAX_PLAIN
  for (const name in fields) {
    const value = fields[name]
    if (--room < 0 || !PLAIN.test(name) || name === 'time' || name === 'level' || name === 'message') return undefined
    if (typeof value === 'string' && PLAIN.test(value)) line += `,"${name}":"${value}"`
    else if (typeof value === 'number' && Number.isFinite(value)) line += `,"${name}":${value}`
    else return undefined
  }
  return `${line}}`
}

/** One line of what `render` makes, with shorter and shorter texts until it fits, at last without its fields. */
function fitted(
  message: string,
  fields: Fields,
  render: (message: string, fields: Fields, replacer: Replacer) => string,
): string {
  for (const length of [Number.POSITIVE_INFINITY, ...CUTS]) {
    const replacer: Replacer = (name, value) => cutIfText(describe(name, value), length)
    const line = oneLine(render(cut(message, length), fields, replacer))
    if (Buffer.byteLength(line) <= MAX_LINE_BYTES) return line
  }
  return oneLine(render(cut(message, CUTS.at(-1)!), { cut: true }, describe))
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text
}

function cutIfText(value: unknown, length: number): unknown {
  return typeof value === 'string' ? cut(value, length) : value
}

/** What JSON leaves out of a value: why something failed, and where. */
function describe(_name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (!(value instanceof Error)) return value
  const { name, message, stack, cause } = value
  const frames = stack?.split('\n').flatMap((line) => /^\s+at (.+)/.exec(line)?.[1] ?? [])
  return { name, message, ...('code' in value && { code: value.code }), frames, cause }
}
