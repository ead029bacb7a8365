import type { Command } from 'chat-server/client'
import { nameOf } from '../app/people.ts'
import type { Choice } from '../compose/completion.tsx'
import { Avatar } from '../parts/avatar.tsx'
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
