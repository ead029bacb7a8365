/** Line breaks, terminal commands, and the marks that turn the direction of writing around. */
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** Prints what a command has to say: `value` as one JSON document under `--json`, else `text`. */
export function print(args: { json?: boolean | undefined }, value: unknown, text: string): void {
  process.stdout.write(`${args.json ? JSON.stringify(value, null, 2) : text}\n`)
}

/** Prints a line for people, beside the output of the command. */
export function printNote(text: string): void {
  process.stderr.write(`${oneLine(text)}\n`)
}

/** `text` as one harmless line: what somebody typed moves no cursor and starts no second line. */
export function oneLine(text: string): string {
  return text.replace(UNPRINTABLE, (character) => {
    if (character === '\n') return '\\n'
    if (character === '\r') return '\\r'
    if (character === '\t') return '\\t'
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/** Rows under their headings, as wide as they need to be. */
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

/** Ends the process once nobody reads its output any more (`| head -1`), quietly, or the disk takes no more of it. */
export function exitOnBrokenOutput(): void {
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code !== 'EPIPE') printNote(`chat-server: the output could not be written (${code})`)
    process.exit(1)
  })
  process.stderr.on('error', () => {})
}

/** For a process that is there for others: it works on when its output goes nowhere. */
export function surviveBrokenOutput(): void {
  process.stdout.removeAllListeners('error').on('error', () => {})
}
