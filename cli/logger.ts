import { type ConsolaReporter, createConsola, LogLevels } from 'consola'
import type { Config } from '../lib/config.ts'
import type { Log } from '../lib/context.ts'
import { oneLine } from './output.ts'

/** The part of a stream that a log needs. */
export interface LogStream {
  isTTY?: boolean
  write(text: string): unknown
}

/** A log on `stream`, standard error by default: one line for each call, whatever is in it. */
export function createLogger(config: Config['log'], stream: LogStream = process.stderr): Log {
  const format = config.format === 'auto' ? (stream.isTTY ? 'pretty' : 'json') : config.format
  const toLine = format === 'json' ? toJsonLine : toPrettyLine
  const reporter: ConsolaReporter = {
    log: ({ date, type, args: [message, fields] }) => {
      stream.write(`${toLine(date, type, String(message), fields as Fields | undefined)}\n`)
    },
  }
  // Without its throttle, since equal lines are equal events: a tenth failed sign-in is not noise.
  const consola = createConsola({
    level: LogLevels[config.level],
    reporters: [reporter],
    throttle: Number.NEGATIVE_INFINITY,
  })
  return {
    debug: (message, fields) => consola.debug(message, fields),
    info: (message, fields) => consola.info(message, fields),
    warn: (message, fields) => consola.warn(message, fields),
    error: (message, fields) => consola.error(message, fields),
  }
}

type Fields = Record<string, unknown>
type Replacer = (name: string, value: unknown) => unknown

/** Whoever collects the lines may cut longer ones, and half an object is none. */
const MAX_LINE_BYTES = 8 * 1024

/** How many characters of each text are kept, in a line that would be too long with more. */
const CUTS = [1024, 128, 32]

function toJsonLine(date: Date, level: string, message: string, fields: Fields = {}): string {
  return fitted(message, fields, (text, fields, replacer) => {
    // Twice: the first keeps the order, the second keeps a field from passing for the time or the message.
    const head = { time: date.toISOString(), level, message: text }
    return JSON.stringify({ ...head, ...fields, ...head }, replacer)
  })
}

function toPrettyLine(date: Date, level: string, message: string, fields: Fields = {}): string {
  return fitted(message, fields, (text, fields, replacer) => {
    const pairs = Object.entries(fields).map(([name, value]) => ` ${name}=${JSON.stringify(value, replacer)}`)
    return `${date.toTimeString().slice(0, 8)} ${level.padEnd(5)} ${text}${pairs.join('')}`
  })
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
