import { closeSync, openSync, writeSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'

/** Writes the lines of an export to a file, until it is interrupted. */
export async function writeLines<T>(
  path: string,
  signal: AbortSignal,
  run: (write: (lines: string) => Promise<void>) => Promise<T>,
): Promise<T> {
  const file = openSync(path, 'w')
  try {
    return await run(async (lines) => {
      // With SQLite nothing else takes a turn, in which a signal arrives.
      await turn()
      signal.throwIfAborted()
      writeAll(file, lines)
    })
  } finally {
    closeSync(file)
  }
}

/** On a nearly full disk, one write may write less than requested. */
function writeAll(file: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done)
}
