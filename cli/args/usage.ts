import { stripVTControlCharacters } from 'node:util'
import { type CommandDef, renderUsage } from 'citty'
import { type FoundCommand, resolve } from './command.ts'
import { findSubject } from './subject.ts'

/** The usage of a command with an example, in colour if `stream` supports it. */
export async function renderCommandUsage({ command, path }: FoundCommand, stream: NodeJS.WriteStream): Promise<string> {
  // citty prints one parent name; our commands may have two.
  const parent = path.length > 1 ? { meta: { name: path.slice(0, -1).join(' ') } } : undefined
  const { example } = command as CommandDef & { example?: string }
  const usage = `${(await renderUsage(await withWord(command), parent)).trimEnd()}\n${example ? `\nEXAMPLE\n\n  ${example}\n` : ''}`
  const text = stream.isTTY && stream.hasColors() ? usage : stripVTControlCharacters(usage)
  return text.replace(/ +$/gm, '')
}

/** The command with its subject as a word, which is its shorter form. */
async function withWord(command: CommandDef): Promise<CommandDef> {
  const args = (await resolve(command.args)) ?? {}
  const subject = findSubject(args)
  if (subject === undefined) return command
  const { [subject]: flag, ...rest } = args
  const { required = false, description = '' } = flag!
  const word = { type: 'positional', required, description: `${description} (also --${subject})` } as const
  return { ...command, args: { [subject]: word, ...rest } }
}
