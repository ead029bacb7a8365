import type { CommandDef } from 'citty'
import { resolve } from '../args/command.ts'

/** A flag, or a word that a command takes by its place. */
export interface DescribedArg {
  name: string
  /** What it says of itself. */
  description: string
  required: boolean
  /** Takes no value. */
  isSwitch: boolean
  /** What its value is, `file` for one. */
  hint?: string
  /** The only values there are. */
  choices?: string[]
  default?: string
}

/** A command, as its help and its completion show it. */
export interface DescribedCommand {
  /** From the program's name on. */
  path: string
  description: string
  /** Of one that can be run. */
  example?: string
  flags: DescribedArg[]
  words: DescribedArg[]
  /** Names of the commands below it. */
  commands: string[]
}

/** Every command from `command` on, itself first, each before those below it. */
export async function describeTree(command: CommandDef, path = 'chat-server'): Promise<DescribedCommand[]> {
  const meta = (await resolve(command.meta)) ?? {}
  const args = Object.entries((await resolve(command.args)) ?? {})
  const below = Object.entries((await resolve(command.subCommands)) ?? {})
  const { example } = command as { example?: string }
  const described: DescribedCommand = {
    path,
    description: meta.description ?? '',
    ...(example && { example }),
    flags: args.filter(([, { type }]) => type !== 'positional').map(describeArg),
    words: args.filter(([, { type }]) => type === 'positional').map(describeArg),
    commands: below.map(([name]) => name),
  }
  const rest = below.map(async ([name, child]) => describeTree((await resolve(child))!, `${path} ${name}`))
  return [described, ...(await Promise.all(rest)).flat()]
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
