import { type Command, type CommandOption, type NamedUser, type ParsedCommand, parseCommand } from 'chat-server/client'
import type { Edit } from '../compose/edit.ts'
import { matching } from '../compose/mention-query.ts'
import { isCall } from './query.ts'

/** How much is offered at once. */
const MAX_OFFERED = 8

/** The word before the caret, which may begin with the name of an option and be in a quote without an end. */
const WORD = /\s([a-z0-9_-]{1,32}:"[^"]*|\S*)$/i

/** A word that names its option, with what is typed of the value. */
const NAMED = /^([a-z0-9_-]{1,32}):"?(.*)$/is

/** The name of an option at the end of a line. */
const OPEN_NAME = /\s([a-z0-9_-]{1,32}):\s*$/i

/** A value that stands in a line without quotes. */
const PLAIN = /^[^\s"'“„‘«\\]+$/

/** A word behind the name of a command that is being typed. */
export interface OptionQuery {
  start: number
  end: number
  word: string
  line: string
}

/** Who can be given for an option of type `user`. */
export interface NamedPerson extends NamedUser {
  name: string
}

/** An option that may be given: with a value, or by its name alone, behind which a value is typed. */
export interface OfferedOption {
  option: CommandOption
  value?: string
  person?: NamedPerson
}

/** The word before the caret, unless the caret is inside of a word or in the name of the command. */
export function optionQueryOf(line: string, caret: number): OptionQuery | undefined {
  if (!isCall(line) || /^\S/.test(line.slice(caret))) return undefined
  const word = WORD.exec(line.slice(0, caret))?.[1]
  return word === undefined ? undefined : { start: caret - word.length, end: caret, word, line }
}

/** The options without a value whose names begin so, after the values of the one that is typed or comes next. */
export function offeredOptions(
  { line, start, word }: OptionQuery,
  commands: readonly Command[],
  people: readonly NamedPerson[],
): OfferedOption[] {
  const parsed = parseCommand(line.slice(0, start), commands, people)
  if (!parsed?.command || parsed.problems.some(({ code }) => code === 'open_quote')) return []
  const free = freeOptions(parsed)
  const [, name, value = ''] = NAMED.exec(word) ?? []
  const named = free.find((option) => option.name === name?.toLowerCase())
  if (named) return valuesOf(named, value, people)
  const [next] = free
  const names = free.filter((option) => option.name.startsWith(word.toLowerCase()))
  const values = next ? valuesOf(next, word, people) : []
  // With its values, the name of the next one is offered already.
  const others = names.filter((option) => values.length === 0 || option !== next)
  return [...values, ...others.map((option) => ({ option }))].slice(0, MAX_OFFERED)
}

/** Reads a line as `parseCommand` does, but for a name at its end: that waits for its value. */
export function parseCall(
  line: string,
  commands: readonly Command[],
  people: readonly NamedUser[],
): ParsedCommand | undefined {
  const waiting = waitingOption(line, commands, people)
  if (!waiting) return parseCommand(line, commands, people)
  const { parsed, option } = waiting
  const others = parsed.problems.filter((problem) => problem.option !== option)
  const { call: _, ...rest } = parsed
  return { ...rest, problems: [...others, { code: 'missing_option', message: `"${option.name}" is missing.`, option }] }
}

/** The option whose name ends the line, and the line before it. */
export function waitingOption(line: string, commands: readonly Command[], people: readonly NamedUser[]) {
  const match = OPEN_NAME.exec(line)
  if (!match) return undefined
  const parsed = parseCommand(line.slice(0, match.index), commands, people)
  const option = parsed && freeOptions(parsed).find(({ name }) => name === match[1]!.toLowerCase())
  return parsed && option && { parsed, option }
}

/** The options without a value, right or wrong. */
function freeOptions({ command, options, problems }: ParsedCommand): CommandOption[] {
  const wrong = problems.filter(({ code }) => code !== 'missing_option').map(({ option }) => option)
  return (command?.options ?? []).filter((option) => options[option.name] === undefined && !wrong.includes(option))
}

/** The values that are left of a few, by what is typed of one. */
function valuesOf(option: CommandOption, typed: string, people: readonly NamedPerson[]): OfferedOption[] {
  if (option.type === 'user' && !option.choices) {
    const query = typed.replace(/^@/, '')
    const found = matching(people, query).filter(({ username }) => username?.toLowerCase() !== query.toLowerCase())
    return found.map(({ id, name, username = '' }) => {
      return { option, value: `@${username}`, person: { id, name, username } }
    })
  }
  const query = typed.toLowerCase()
  const values = (option.choices ?? (option.type === 'boolean' ? ['true', 'false'] : [])).map(String)
  const left = values.filter((value) => value.toLowerCase() !== query)
  const beginning = left.filter((value) => value.toLowerCase().startsWith(query))
  const others = left.filter((value) => !beginning.includes(value) && value.toLowerCase().includes(query))
  return [...beginning, ...others].map((value) => ({ option, value }))
}

/** Puts an option in the place of what was typed of it. */
export function optionEdit({ line, start, end }: OptionQuery, { option, value }: OfferedOption): Edit {
  const text = value === undefined ? `${option.name}:` : `${option.name}:${quoted(value)}`
  const space = value === undefined || line.slice(end).startsWith(' ') ? '' : ' '
  const caret = start + text.length + (value === undefined ? 0 : 1)
  return { from: start, to: end, text: text + space, start: caret, end: caret }
}

const quoted = (value: string) => (PLAIN.test(value) ? value : `"${value.replace(/["\\]/g, '\\$&')}"`)

/** What is wrong with the words that are typed whole; what may still come is not missed yet. */
export function finishedProblems(line: string, commands: readonly Command[], people: readonly NamedUser[]) {
  const end = Math.max(...[' ', '\n', '\t'].map((space) => line.lastIndexOf(space)))
  const problems = parseCommand(line.slice(0, end + 1), commands, people)?.problems ?? []
  // A value in an open quote is not whole.
  if (problems.some(({ code }) => code === 'open_quote')) return []
  return problems.filter(({ code }) => FINISHED.includes(code))
}

const FINISHED = ['wrong_type', 'no_choice', 'repeated_option', 'unexpected_text'] as readonly string[]
