import type { CommandDef } from 'citty'
import { resolve } from '../args/command.ts'
import { findSubject } from '../args/subject.ts'

/** A flag, or a positional argument. */
export interface DescribedArg {
  name: string
  description: string
  required: boolean
  /** Takes no value. */
  isSwitch: boolean
  /** The kind of its value, such as `file`. */
  hint?: string
  /** The allowed values. */
  choices?: string[]
  default?: string
}

/** A command, described for its help and its completion. */
export interface DescribedCommand {
  /** Starts with the program's name. */
  path: string
  description: string
  /** Present if the command can be run. */
  example?: string
  flags: DescribedArg[]
  /** The flag that may be given as a word, without its name. */
  subject?: DescribedArg
  positionals: DescribedArg[]
  /** The names of its subcommands. */
  commands: string[]
}

/** `command` and all its subcommands, each before its own subcommands. */
export async function describeCommands(command: CommandDef, path = 'chat-server'): Promise<DescribedCommand[]> {
  const meta = (await resolve(command.meta)) ?? {}
  const defined = (await resolve(command.args)) ?? {}
  const args = Object.entries(defined)
  const subject = findSubject(defined)
  const subcommands = Object.entries((await resolve(command.subCommands)) ?? {})
  const { example } = command as { example?: string }
  const described: DescribedCommand = {
    path,
    description: meta.description ?? '',
    ...(example && { example }),
    flags: args.filter(([, { type }]) => type !== 'positional').map(describeArg),
    ...(subject && { subject: describeArg([subject, defined[subject]!]) }),
    positionals: args.filter(([, { type }]) => type === 'positional').map(describeArg),
    commands: subcommands.map(([name]) => name),
  }
  const nested = subcommands.map(async ([name, child]) => describeCommands((await resolve(child))!, `${path} ${name}`))
  return [described, ...(await Promise.all(nested)).flat()]
}

function describeArg([name, arg]: [string, object]): DescribedArg {
  const { type, description, required, valueHint, options, ...rest } = arg as Record<string, unknown>
  return {
    name,
    description: String(description ?? ''),
    required: required === true,
    isSwitch: type === 'boolean',
    ...(typeof valueHint === 'string' && { hint: valueHint }),
    ...(Array.isArray(options) && { choices: options.map(String) }),
    ...(rest.default !== undefined && { default: String(rest.default) }),
  }
}
