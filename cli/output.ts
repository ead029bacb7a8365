import type { Log } from '../lib/context.ts'

/** Line breaks, terminal control characters, and bidirectional control characters. */
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** Prints the result of a command: `value` as one JSON document with `--json`, else `text`. */
export function print(args: { json?: boolean | undefined }, value: unknown, text: string): void {
  process.stdout.write(`${args.json ? JSON.stringify(value, null, 2) : text}\n`)
}

/** Prints a line to standard error, separate from the output of the command. */
export function printNote(text: string): void {
  process.stderr.write(`${oneLine(text)}\n`)
}

/** `text` as one safe line: control characters in user input neither move the cursor nor start a new line. */
export function oneLine(text: string): string {
  return text.replace(UNPRINTABLE, (character) => {
    if (character === '\n') return '\\n'
    if (character === '\r') return '\\r'
    if (character === '\t') return '\\t'
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/** A text table; each column is as wide as its longest cell. */
export function table(headings: string[], rows: string[][]): string {
  const lines = [headings, ...rows].map((row) => row.map(oneLine))
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Exits when the output cannot be written: silently if its reader has closed it (`| head -1`), else with a message. */
export function exitOnBrokenOutput(): void {
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code !== 'EPIPE') printNote(`chat-server: the output could not be written (${code})`)
    process.exit(1)
  })
  process.stderr.on('error', () => {})
}

/** For a server: it keeps running when its output cannot be written. */
export function surviveBrokenOutput(): void {
  process.stdout.removeAllListeners('error').on('error', () => {})
}

/**
 * The process must not end because its output is closed, and an error that ends it is logged completely. Node's
 * warnings are logged as lines of the same log.
 */
export function outliveOutput(log: Log): void {
  surviveBrokenOutput()
  process.removeAllListeners('warning').on('warning', (error) => log.warn('Node warns.', { error }))
  process.prependListener('uncaughtException', (error) => {
    log.error('The process ends after an unexpected failure.', { error })
    process.exit(1)
  })
}
