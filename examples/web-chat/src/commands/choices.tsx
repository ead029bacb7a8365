import type { Command } from 'chat-server/client'
import type { App } from '../app/context.ts'
import { nameOf } from '../app/people.ts'
import type { Choice } from '../compose/choices.tsx'
import { Avatar } from '../parts/avatar.tsx'
import { composeTexts } from '../texts/compose.ts'
import { namesIn } from './call.ts'
import { hintOf } from './hint.ts'
import { type OfferedOption, type OptionQuery, offeredOptions, parseCall } from './options.ts'
import { type CommandQuery, callNameOf, matchingCommands, signatureOf } from './query.ts'

/** The commands that are offered for a name that is being typed. */
export function commandsFor(
  commands: readonly Command[],
  typed: CommandQuery,
  take: (typed: CommandQuery, name: string) => void,
): Choice[] {
  return matchingCommands(commands, typed.query).map((command) => {
    const { bot, description, options = [] } = command
    const name = callNameOf(command, commands)
    return {
      id: `${bot.id} ${command.name}`,
      sign: <Avatar id={bot.id} name={nameOf(bot)} />,
      name: `${name} ${signatureOf(command)}`.trim(),
      code: nameOf(bot),
      description,
      isWhole: name === `/${typed.query}` && options.every(({ required }) => !required),
      take: () => take(typed, name),
    }
  })
}

/** The options, and their values, that are offered for a word behind the name of a command. */
export function optionsFor(
  { people }: App,
  conversation_id: string,
  commands: readonly Command[],
  typed: OptionQuery,
  take: (typed: OptionQuery, offered: OfferedOption) => void,
): Choice[] {
  const persons = namesIn(people, conversation_id)
  const { required } = composeTexts.value.commands
  const canBeCalled = parseCall(typed.line, commands, persons)?.call !== undefined
  return offeredOptions(typed, commands, persons).map((offered) => {
    const { option, value, person } = offered
    return {
      id: `${option.name} ${value ?? ''}`,
      sign: person && <Avatar id={person.id} name={person.name} />,
      name: person?.name ?? value ?? `${option.name}:`,
      code: value === undefined ? `${hintOf(option)}${option.required ? ` ${required}` : ''}` : `${option.name}:`,
      description: option.description,
      isExtra: canBeCalled,
      take: () => take(typed, offered),
    }
  })
}
