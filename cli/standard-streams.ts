import { once } from 'node:events'
import { UsageError } from './args/command.ts'

/** In the place of a file name: standard output, or standard input. */
export const STANDARD = '-'

/** @throws UsageError when the result of a command would be written among the data */
export function assertOnlyData(args: { json?: boolean | undefined; force?: boolean | undefined }): void {
  if (args.json) throw new UsageError('--json and "-" exclude each other: standard output is the target')
  if (args.force) throw new UsageError('--force and "-" exclude each other: standard output is not a file to replace')
}

/** Writes to standard output, and waits until it takes more. A closed output ends the process (`exitOnBrokenOutput`). */
export async function writeOutput(data: string | Uint8Array): Promise<void> {
  if (!process.stdout.write(data)) await once(process.stdout, 'drain')
}

/** @throws UsageError when a person would have to type the data */
export function assertPipedIn(): void {
  if (process.stdin.isTTY) throw new UsageError('"-" reads standard input, which is a terminal: pipe a file into it')
}
