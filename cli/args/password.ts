import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { printNote } from '../output.ts'
import { UsageError } from './command.ts'

/** The flag of every command that takes a password. */
export const passwordArg = {
  password: {
    type: 'string',
    description: 'Better left out: CHAT_PASSWORD, standard input or a prompt show it to nobody',
  },
} as const

const NOWHERE = new Writable({ write: (_chunk, _encoding, done) => done() })

/** No password is longer; what is piped in beyond it was not meant for us. */
const MAX_INPUT_CHARACTERS = 4096

/**
 * The password from `--password`, else CHAT_PASSWORD, else the first line of standard input, else a hidden prompt.
 *
 * @throws UsageError when none of them has one
 */
export async function readPassword(args: { password?: string | undefined }): Promise<string> {
  if (args.password !== undefined) {
    printNote('Warning: other users of this machine can read --password in the list of processes.')
    return args.password
  }
  const password = process.env.CHAT_PASSWORD ?? (process.stdin.isTTY ? await prompt() : await readFirstLine())
  if (password === '')
    throw new UsageError('a password is needed: CHAT_PASSWORD, standard input, or a terminal to ask on')
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

/** Asks twice, since nobody sees what is typed. */
async function prompt(): Promise<string> {
  // The interface first: it is what keeps the terminal from showing what is typed, ahead of the question too.
  const terminal = createInterface({ input: process.stdin, output: NOWHERE, terminal: true })
  const gone = once(terminal, 'close')
  terminal.on('SIGINT', () => {
    terminal.close()
    process.stderr.write('\n')
    process.exit(130)
  })
  const ask = async (question: string) => {
    process.stderr.write(question)
    // Ctrl+D closes it, which answers, rejects or forgets the question, by the version of Node.
    const answer = await Promise.race([terminal.question(''), gone]).catch(() => '')
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
