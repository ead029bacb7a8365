import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { printNote } from '../output.ts'
import { UsageError } from './command.ts'

/** The flag of every command that takes a password. */
export const passwordArg = {
  password: {
    type: 'string',
    description: 'Other users can read it; prefer CHAT_PASSWORD, standard input or the prompt',
  },
} as const

const NOWHERE = new Writable({ write: (_chunk, _encoding, done) => done() })

/** Longer than any password; more input is a mistake. */
const MAX_INPUT_CHARACTERS = 4096

/**
 * The password from `--password`, else CHAT_PASSWORD, else the first line of standard input, else a hidden prompt.
 *
 * @throws UsageError if none of them has a password
 */
export async function readPassword(args: { password?: string | undefined }): Promise<string> {
  if (args.password !== undefined) {
    printNote('Warning: other users of this machine can read --password in the list of processes.')
    return args.password
  }
  const password = process.env.CHAT_PASSWORD ?? (process.stdin.isTTY ? await prompt() : await readFirstLine())
  if (password === '')
    throw new UsageError('a password is needed: set CHAT_PASSWORD, pipe it to standard input, or use a terminal')
  return password
}

async function readFirstLine(): Promise<string> {
  let text = ''
  process.stdin.setEncoding('utf8')
  for await (const chunk of process.stdin) {
    text += chunk
    if (text.includes('\n') || text.length > MAX_INPUT_CHARACTERS) break
  }
  return text.split(/\r?\n/)[0]!
}

/** Asks twice, because the terminal does not show the input. */
async function prompt(): Promise<string> {
  // Created before the question: the interface stops the terminal from showing the input.
  const terminal = createInterface({ input: process.stdin, output: NOWHERE, terminal: true })
  const closed = once(terminal, 'close')
  terminal.on('SIGINT', () => {
    terminal.close()
    process.stderr.write('\n')
    process.exit(130)
  })
  const ask = async (question: string) => {
    process.stderr.write(question)
    // Ctrl+D closes the interface; depending on the version of Node, the question resolves, rejects or stays pending.
    const answer = await Promise.race([terminal.question(''), closed]).catch(() => '')
    process.stderr.write('\n')
    return typeof answer === 'string' ? answer : ''
  }
  try {
    const password = await ask('Password: ')
    if (password !== '' && (await ask('Once more: ')) !== password) throw new Error('the two passwords differ')
    return password
  } finally {
    terminal.close()
  }
}
