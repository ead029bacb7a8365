import { createInterface } from 'node:readline/promises'
import { UsageError } from './command.ts'

/** The flag of commands that ask before they do what cannot be undone. */
export const yesArg = { yes: { type: 'boolean', description: 'Do not ask' } } as const

/** @throws UsageError without a terminal */
export function assertCanAsk(): void {
  if (!process.stdin.isTTY) throw new UsageError('this cannot be undone: add --yes')
}

/**
 * Asks on a terminal.
 *
 * @param expected the only answer with which the command continues
 * @throws UsageError without a terminal; Error for another answer
 */
export async function confirm(question: string, expected: string): Promise<void> {
  assertCanAsk()
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  // Ctrl+D closes the interface.
  const closed = new Promise<string>((resolve) => terminal.once('close', () => resolve('')))
  try {
    const answer = await Promise.race([terminal.question(question), closed])
    if (answer.trim() !== expected) throw new Error('Nothing was changed: that was another answer')
  } finally {
    terminal.close()
  }
}
