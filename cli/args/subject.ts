import { parseArgs } from 'node:util'
import type { ArgsDef } from 'citty'
import { type FoundCommand, resolve, toParseOptions, UsageError } from './command.ts'

/**
 * The flag of a command that may be given without its name, as its first word: the first required one, else `--user` or
 * `--id`. `undefined` for a command that has words of its own, or no such flag.
 */
export function findSubject(args: ArgsDef): string | undefined {
  const all = Object.entries(args)
  if (all.some(([, { type }]) => type === 'positional')) return undefined
  const required = all.find(([, arg]) => arg.required)?.[0]
  return required ?? ['user', 'id'].find((name) => Object.hasOwn(args, name))
}

/**
 * Gives the first word of a command the name of its flag.
 *
 * @throws UsageError if the flag has another value, or both are missing
 */
export async function nameSubject(match: FoundCommand): Promise<FoundCommand> {
  const args = (await resolve(match.command.args)) ?? {}
  const subject = findSubject(args)
  if (subject === undefined) return match
  const { tokens } = parseArgs({ ...toParseOptions(args), args: match.rawArgs })
  const word = tokens.find((token) => token.kind === 'positional')
  const flag = tokens.find((token) => token.kind === 'option' && token.name === subject)
  if (!word && !flag && args[subject]!.required)
    throw new UsageError(`${match.path.join(' ')} needs <${subject}>, or --${subject}`)
  if (!word) return match
  if (flag?.kind === 'option' && flag.value !== word.value)
    throw new UsageError(`"${word.value}" and --${subject} ${flag.value} exclude each other: give one of them`)
  // What follows `--` are words, of which none is left, or one too many.
  const rest = match.rawArgs.filter((_, index) => index !== word.index)
  return { ...match, rawArgs: [`--${subject}=${word.value}`, ...rest] }
}
