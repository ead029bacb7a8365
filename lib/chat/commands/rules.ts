import { ChatError } from '../../core/errors.ts'
import { isId } from '../../core/schema.ts'
import type { BotCommand, CommandOption, CommandValues } from './schema.ts'

/**
 * Refuses commands of which two have one name, and options that no call can meet.
 *
 * @throws ChatError `validation_failed`
 */
export function assertCommands(commands: readonly BotCommand[]): void {
  assertDistinct(commands, 'commands')
  for (const [n, { options = [] }] of commands.entries()) {
    assertDistinct(options, `commands[${n}].options`)
    for (const [index, option] of options.entries())
      if (option.choices?.some((choice) => !isOfType(option, choice)))
        throw refusal(`commands[${n}].options[${index}].choices`, 'must be of the type of the option')
  }
}

function assertDistinct(named: readonly { name: string }[], path: string): void {
  if (new Set(named.map(({ name }) => name)).size < named.length) throw refusal(path, 'must have different names')
}

/**
 * Refuses the values of a call that do not fit the options of its command.
 *
 * @throws ChatError `validation_failed`
 */
export function assertValues({ options = [] }: BotCommand, values: CommandValues): void {
  const names = new Set(options.map(({ name }) => name))
  for (const name of Object.keys(values))
    if (!names.has(name)) throw refusal(`options.${name}`, 'is no option of the command')
  for (const option of options) {
    const value = values[option.name]
    if (value === undefined && option.required) throw refusal(`options.${option.name}`, 'is required')
    if (value !== undefined && !fits(option, value))
      throw refusal(
        `options.${option.name}`,
        option.choices ? 'is none of the choices' : `must be of type ${option.type}`,
      )
  }
}

function fits(option: CommandOption, value: string | number | boolean): boolean {
  if (!isOfType(option, value)) return false
  return !option.choices || option.choices.some((choice) => choice === value)
}

function isOfType({ type }: CommandOption, value: string | number | boolean): boolean {
  switch (type) {
    case 'integer':
      return Number.isSafeInteger(value)
    case 'user':
      return typeof value === 'string' && isId(value)
    default:
      return typeof value === type
  }
}

function refusal(path: string, message: string): ChatError {
  return new ChatError('validation_failed', { errors: [{ path, message }] })
}
