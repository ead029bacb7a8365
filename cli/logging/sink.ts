/** The part of a stream that a log needs. */
export interface LogStream {
  isTTY?: boolean
  /** The bytes written but not yet read, if known. */
  readonly writableLength?: number
  write(text: string): unknown
  /** A file: writes what there is room for. @returns the number of bytes */
  writeSome?(bytes: Buffer): number
  /** Node's own of a pipe or a socket. */
  readonly _handle?: { setBlocking?(isBlocking: boolean): unknown } | null
}

/** The destination of log lines. */
export interface LogSink {
  /** @param urgent flushes this line and all waiting lines at once */
  write(line: string, urgent: boolean): void
  /** The number of lines dropped so far. */
  dropped(): number
}

/** How far the log reader may fall behind. A pipe holds 64 KiB; beyond that Node buffers in memory. */
const MAX_PENDING_BYTES = 1024 * 1024

/** The buffer is flushed at this size, because waiting longer would only delay the lines. */
const MAX_BUFFERED_LENGTH = 64 * 1024

/**
 * Writes lines to `stream`, batched per turn of the event loop.
 *
 * If the reader does not keep up, lines are dropped and counted: the service neither waits nor uses more memory. Once the
 * reader has caught up, a line reports the number of dropped lines. The same holds for a file whose disk is full; a line of
 * which only the beginning had room stays alone on its line.
 *
 * @param toNotice formats that line
 */
export function createLogSink(stream: LogStream, toNotice: (lost: number) => string): LogSink {
  let buffered = ''
  let lines = 0
  let waiting: NodeJS.Immediate | undefined
  const losses = createLosses(toNotice)
  const writeLines = stream.writeSome && createFileWriter((bytes) => stream.writeSome!(bytes))

  function flush(): void {
    clearImmediate(waiting)
    waiting = undefined
    if (lines === 0) return
    const notice = losses.notice()
    if (writeLines) {
      const written = writeLines(notice, buffered)
      if (written.notice) losses.noticed()
      losses.add(lines - written.lines)
    } else if ((stream.writableLength ?? 0) > MAX_PENDING_BYTES) losses.add(lines)
    else {
      losses.noticed()
      keepNonBlocking(stream)
      stream.write(notice + buffered)
    }
    buffered = ''
    lines = 0
  }

  // Lines logged just before the process exits are still written.
  if (stream === process.stderr || stream.writeSome) process.once('exit', flush)
  return {
    write(line, urgent) {
      buffered += `${line}\n`
      lines++
      if (urgent || buffered.length > MAX_BUFFERED_LENGTH) flush()
      else waiting ??= setImmediate(flush)
    },
    dropped: losses.count,
  }
}

/** Counts dropped lines, and those of them that a line of the log has not reported yet. */
function createLosses(toNotice: (lost: number) => string) {
  let dropped = 0
  let reported = 0
  return {
    count: () => dropped,
    add(lines: number): void {
      dropped += lines
    },
    /** The line that reports them; empty if there is nothing to report. */
    notice: () => (dropped > reported ? `${toNotice(dropped - reported)}\n` : ''),
    /** The notice has been written. */
    noticed(): void {
      reported = dropped
    },
  }
}

const NEWLINE = 10

/** Makes the function that writes to a file, and returns what arrived as a whole. */
function createFileWriter(writeSome: (bytes: Buffer) => number) {
  let isInLine = false
  return (notice: string, text: string): { notice: boolean; lines: number } => {
    const lead = `${isInLine ? '\n' : ''}${notice}`
    const bytes = Buffer.from(lead + text)
    const written = writeSome(bytes)
    if (written > 0) isInLine = bytes[written - 1] !== NEWLINE
    const start = Buffer.byteLength(lead)
    const lines = bytes.subarray(start, Math.max(start, written)).filter((byte) => byte === NEWLINE).length
    return { notice: written >= start, lines }
  }
}

/**
 * A process that starts or ends with the same pipe, as a worker does, makes it block for all that share it: a line that it
 * cannot take would stop this process.
 */
function keepNonBlocking({ isTTY, _handle }: LogStream): void {
  if (!isTTY) _handle?.setBlocking?.(false)
}
