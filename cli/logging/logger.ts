import { type ConsolaReporter, createConsola, LogLevels } from 'consola'
import type { Config } from '../../lib/config/parse.ts'
import type { Log } from '../../lib/context.ts'
import { currentMillis } from '../../lib/core/time.ts'
import { standardError } from './file.ts'
import { createJsonLines, type Fields, toPrettyLine } from './line.ts'
import { createLogSink, type LogStream } from './sink.ts'

/** The log of a process. */
export interface Logger extends Required<Log> {
  /** Changes the lowest level to log. */
  setLevel(level: Config['log']['level']): void
}

/** A log that writes one line per call to `stream`, standard error by default. */
export function createLogger(
  config: Pick<Config['log'], 'level' | 'format'>,
  stream: LogStream = standardError(),
): Logger {
  const format = config.format === 'auto' ? (stream.isTTY ? 'pretty' : 'json') : config.format
  const toLine = format === 'json' ? createJsonLines() : toPrettyLine
  const sink = createLogSink(stream, (lost) =>
    toLine(new Date(currentMillis()), 'warn', 'Lines of the log were lost', { lost }),
  )
  const reporter: ConsolaReporter = {
    log: ({ date, type, args: [message, fields] }) => {
      sink.write(toLine(date, type, String(message), fields as Fields | undefined), type === 'warn' || type === 'error')
    },
  }
  // Without throttling, because each line is an event: the tenth failed sign-in must be logged too.
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
    dropped: sink.dropped,
    setLevel(level) {
      consola.level = LogLevels[level]
    },
  }
}
