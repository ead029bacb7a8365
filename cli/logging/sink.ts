/** The part of a stream that a log needs. */
export interface LogStream {
  isTTY?: boolean
  /** How much of what was written nobody has taken yet, where that is known. */
  readonly writableLength?: number
  write(text: string): unknown
}

/** Where lines go. */
export interface LogSink {
  /** @param urgent writes it, and whatever waits, at once */
  write(line: string, urgent: boolean): void
  /** How many lines were lost so far. */
  dropped(): number
}

/** How far who reads the log may fall behind. A pipe holds 64 KiB; beyond it Node keeps everything in memory. */
const MAX_PENDING_BYTES = 1024 * 1024

/** More than that waits for nobody: the next lines would only be written later. */
const MAX_GATHERED_LENGTH = 64 * 1024

/**
 * Writes lines to `stream`, those of one turn of the event loop together.
 *
 * When nobody takes them, they are lost and counted: neither does the service wait, nor does its memory grow. Once there
 * is room again, a line says how many it were.
 *
 * @param toNotice the line that says it
 */
export function createLogSink(stream: LogStream, toNotice: (lost: number) => string): LogSink {
  let gathered = ''
  let lines = 0
  let dropped = 0
  let told = 0
  let waiting: NodeJS.Immediate | undefined

  function flush(): void {
    clearImmediate(waiting)
    waiting = undefined
    if (lines === 0) return
    if ((stream.writableLength ?? 0) > MAX_PENDING_BYTES) dropped += lines
    else {
      const notice = dropped > told ? `${toNotice(dropped - told)}\n` : ''
      told = dropped
      stream.write(notice + gathered)
    }
    gathered = ''
    lines = 0
  }

  // What is said just before the process ends is written all the same.
  if (stream === process.stderr) process.once('exit', flush)
  return {
    write(line, urgent) {
      gathered += `${line}\n`
      lines++
      if (urgent || gathered.length > MAX_GATHERED_LENGTH) flush()
      else waiting ??= setImmediate(flush)
    },
    dropped: () => dropped,
  }
}
