import { parseArgs } from 'node:util'
import type { ArgDef, ArgsDef, CommandDef } from 'citty'
import { didYouMean } from '../../lib/core/nearest.ts'

/** An invalid command line; the usage is printed after its message. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The flags of every command. */
export const commonArgs = {
  json: { type: 'boolean', description: 'Print one JSON document' },
  config: { type: 'string', valueHint: 'file', description: 'Configuration file (TOML, JSON or YAML)' },
  database: { type: 'string', valueHint: 'url', description: 'sqlite:<path> or postgres://… (database.url)' },
} as const satisfies ArgsDef

/** The flag of commands that make a database of a copy. */
export const webhooksFlag = {
  type: 'boolean',
  description: 'Leave webhooks enabled, where the original calls none any more',
} as const

/** Defines a command whose help ends with `example`. */
export function defineCommand<const T extends ArgsDef>(command: CommandDef<T> & { example: string }): CommandDef<T> {
  return command
}

/** A command and its path. */
export interface FoundCommand {
  command: CommandDef
  /** The names typed so far, the program's first. */
  path: string[]
  /** The remaining arguments. */
  rawArgs: string[]
}

/** The innermost command that `rawArgs` names. {@link checkArgs} refuses an unknown word. */
export async function findCommand(root: CommandDef, rawArgs: string[]): Promise<FoundCommand> {
  const match: FoundCommand = { command: root, path: ['chat-server'], rawArgs }
  for (;;) {
    const [name, ...rest] = match.rawArgs
    const commands = (await resolve(match.command.subCommands)) ?? {}
    if (name === undefined || !Object.hasOwn(commands, name)) return match
    match.command = (await resolve(commands[name]))!
    match.path.push(name)
    match.rawArgs = rest
  }
}

/**
 * Refuses what citty accepts: unknown flags, flags without their value, words that the command does not read.
 *
 * @throws UsageError
 */
export async function checkArgs({ command, path, rawArgs }: FoundCommand): Promise<void> {
  const defined = (await resolve(command.args)) ?? {}
  const words = Object.values(defined).filter(({ type }) => type === 'positional').length
  let read = 0
  const { tokens } = parseArgs({ ...toParseOptions(defined), args: rawArgs })
  for (const token of tokens) {
    if (token.kind === 'option') checkFlag(token, defined)
    if (token.kind === 'positional' && ++read > words) {
      const commands = await resolve(command.subCommands)
      const why = commands ? 'has no command' : 'cannot use'
      const hint = didYouMean(token.value, Object.keys(commands ?? {}))
      throw new UsageError(`${path.join(' ')} ${why} "${token.value}"${hint}`)
    }
  }
  if (command.subCommands && !command.run) throw new UsageError(`${path.join(' ')} needs a command`)
}

/** How `parseArgs` of Node takes apart the arguments of a command, whatever is wrong with them. */
export function toParseOptions(defined: ArgsDef) {
  const options = Object.fromEntries(
    Object.entries(defined).map(([name, { type }]) => [name, { type: type === 'boolean' ? type : 'string' } as const]),
  )
  return { options, strict: false, allowPositionals: true, tokens: true } as const
}

/** All values of a flag that may be repeated, in their order: citty keeps the last one. */
export function valuesOf(flag: string, { rawArgs, cmd }: { rawArgs: string[]; cmd: { args?: unknown } }): string[] {
  const { tokens } = parseArgs({ ...toParseOptions(cmd.args as ArgsDef), args: rawArgs })
  return tokens.flatMap((token) => (token.kind === 'option' && token.name === flag && token.value ? [token.value] : []))
}

function checkFlag(token: { name: string; rawName: string; value?: string | undefined }, defined: ArgsDef): void {
  const arg: ArgDef | undefined = Object.hasOwn(defined, token.name) ? defined[token.name] : undefined
  if (!arg || token.rawName.length < 3) {
    const flags = Object.keys(defined).filter((name) => defined[name]!.type !== 'positional')
    const hint = didYouMean(
      token.rawName,
      flags.map((name) => `--${name}`),
    )
    throw new UsageError(`${token.rawName} is not a flag of this command${hint}`)
  }
  if (arg.type === 'boolean' && token.value !== undefined) throw new UsageError(`${token.rawName} takes no value`)
  if (arg.type !== 'boolean' && !token.value) throw new UsageError(`${token.rawName} needs a value`)
}

/** A value that citty accepts directly, as a promise, or as a function of either. */
export async function resolve<T>(value: T | Promise<T> | (() => T | Promise<T>) | undefined): Promise<T | undefined> {
  return typeof value === 'function' ? await (value as () => T | Promise<T>)() : await value
}
