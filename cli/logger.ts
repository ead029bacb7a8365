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

function toJsonLine(date: Date, level: string, message: string, fields: Fields = {}): string {
  // Twice: the first keeps the order, the second keeps a field from passing for the time or the message.
  const head = { time: date.toISOString(), level, message }
  return oneLine(JSON.stringify({ ...head, ...fields, ...head }, describe))
}

function toPrettyLine(date: Date, level: string, message: string, fields: Fields = {}): string {
  const pairs = Object.entries(fields).map(([name, value]) => ` ${name}=${JSON.stringify(value, describe)}`)
  return oneLine(`${date.toTimeString().slice(0, 8)} ${level.padEnd(5)} ${message}${pairs.join('')}`)
}

/** What JSON leaves out of a value: why something failed, and where. */
function describe(_name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (!(value instanceof Error)) return value
  const { name, message, stack, cause } = value
  const frames = stack?.split('\n').flatMap((line) => /^\s+at (.+)/.exec(line)?.[1] ?? [])
  return { name, message, ...('code' in value && { code: value.code }), frames, cause }
}
