import type { Command, CommandCall, CommandOption } from '../api/client-entities.ts'
import { splitWords, type Word } from './split-words.ts'

/** What is wrong with a line: the call cannot be made. */
export interface CommandProblem {
  code:
    | 'unknown_command'
    | 'ambiguous_command'
    | 'missing_option'
    | 'repeated_option'
    | 'wrong_type'
    | 'no_choice'
    | 'unexpected_text'
    | 'open_quote'
  /** What is meant, in English. */
  message: string
  /** The option that is missing, or whose value does not fit. */
  option?: CommandOption
  /** What stands in the line. */
  text?: string
}

/** What a line calls. */
export interface ParsedCommand {
  /** The name behind the slash. */
  name: string
  /** The command of that name; missing if none or several have it. */
  command?: Command
  /** The values of the options so far, by name; of those with a problem there is none. */
  options: NonNullable<CommandCall['options']>
  /** Empty if the call can be made. */
  problems: CommandProblem[]
  /** What `client.commands.invoke` takes; missing if there are problems. */
  call?: CommandCall
}

/** A user whose name can stand for the id in a line. */
export interface NamedUser {
  id: string
  username: string
}

/** What is typed of a command: its name, and the text behind that. */
const LINE = /^\/([a-z0-9_-]{1,32})(?=[\s@]|$)/i

const ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** What stands for a boolean. */
const BOOLEANS: Record<string, boolean> = {
  ...{ true: true, yes: true, on: true, 1: true },
  ...{ false: false, no: false, off: false, 0: false },
}

/** What a value of each type is in a sentence. */
const TYPES: Record<CommandOption['type'], string> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  user: 'a user: @name or an id',
}

/**
 * Reads a line such as `/deploy 42 place:staging`. Options are given in their order, or by `name:value`; a value with spaces
 * stands in quotes. The last option of type `string` takes the rest of the line without quotes, unless what follows its first
 * word fits the options behind it. Of two programs with one command, `/deploy@name` is the one of that name.
 *
 * @param people whose usernames stand for their ids in options of type `user`, with or without an `@`
 * @throws TypeError for what is no line, or no list of commands
 * @returns `undefined` for a line that begins with no slash and name
 * @example
 * const { commands } = await client.commands.list(conversation_id)
 * const { call, problems } = parseCommand('/deploy 42 place:staging', commands) ?? {}
 * if (call) await client.commands.invoke(conversation_id, call)
 */
export function parseCommand(
  line: string,
  commands: readonly Command[],
  people: readonly NamedUser[] = [],
): ParsedCommand | undefined {
  if (typeof line !== 'string') throw new TypeError('parseCommand needs a line: pass what the user has typed')
  if (!Array.isArray(commands))
    throw new TypeError('parseCommand needs commands: pass the list that client.commands.list returned')
  const match = LINE.exec(line)
  if (!match) return undefined
  const name = match[1]!.toLowerCase()
  const rest = line.slice(match[0].length)
  const candidates = commands.filter((command) => command.name === name)
  const [command, text] = rest.startsWith('@') ? ofProgram(candidates, rest.slice(1)) : [candidates[0], rest]
  if (!command) {
    const problem: CommandProblem = { code: 'unknown_command', message: `There is no command /${name}.` }
    return { name, options: {}, problems: [problem] }
  }
  if (text === rest && candidates.length > 1) {
    const names = candidates.map(({ bot }) => `/${name}@${bot.username}`).join(', ')
    return { name, options: {}, problems: [{ code: 'ambiguous_command', message: `Choose one of ${names}.` }] }
  }
  const { options, problems } = readOptions(text, command.options ?? [], people)
  const call: CommandCall = { bot_id: command.bot.id, name, options }
  return { name, command, options, problems, ...(problems.length === 0 && { call }) }
}

/** The command of the program whose name the text begins with, and the text behind that. */
function ofProgram(candidates: readonly Command[], text: string): [Command | undefined, string] {
  const lower = text.toLowerCase()
  const isNamed = ({ bot: { username } }: Command) =>
    lower.startsWith(username.toLowerCase()) && /^(\s|$)/.test(text.slice(username.length))
  const longest = candidates
    .filter(isNamed)
    .sort((one, other) => other.bot.username.length - one.bot.username.length)[0]
  return [longest, longest ? text.slice(longest.bot.username.length) : text]
}

function readOptions(
  text: string,
  options: readonly CommandOption[],
  people: readonly NamedUser[],
): Pick<ParsedCommand, 'options' | 'problems'> {
  const problems: CommandProblem[] = []
  const given = new Map<CommandOption, string>()
  const words = splitWords(
    text,
    options.map(({ name }) => name),
  )
  const open = words.find(({ isOpen }) => isOpen)
  if (open) problems.push({ code: 'open_quote', message: `A quote has no end: ${open.raw}`, text: open.raw })
  for (const word of words) {
    const option = options.find(({ name }) => name === word.name)
    if (!option) continue
    if (given.has(option))
      problems.push({ code: 'repeated_option', message: `"${option.name}" is given twice.`, option, text: word.raw })
    else given.set(option, word.value)
  }
  const byPlace = placed(words, options, people)
  for (const [option, value] of byPlace) if (option) given.set(option, value)
  const surplus = byPlace.find(([option]) => !option)?.[1]
  if (surplus !== undefined)
    problems.push({ code: 'unexpected_text', message: `No option takes this: ${surplus}`, text: surplus })
  const converted: ParsedCommand['options'] = {}
  for (const option of options) {
    const value = given.get(option)
    if (value === undefined) {
      if (option.required)
        problems.push({ code: 'missing_option', message: `"${option.name}" is missing: ${option.description}`, option })
      continue
    }
    const fitting = convert(option, value, people)
    if (fitting === undefined) problems.push(misfit(option, value))
    else converted[option.name] = fitting
  }
  return { options: converted, problems }
}

/** Gives words without a name to the options without one, in order; `undefined` is for words that no option takes. */
function placed(
  words: readonly Word[],
  options: readonly CommandOption[],
  people: readonly NamedUser[],
): [CommandOption | undefined, string][] {
  const last = options.findLast(({ type, choices }) => type === 'string' && !choices)
  const named = words.findIndex(({ name }) => name !== undefined && name === last?.name)
  const free = options.filter(({ name }) => !words.some((word) => word.name === name))
  const byPlace = words.filter(({ name }) => name === undefined)
  const fits = (from: number, behind: readonly Word[]) =>
    behind.every((word, n) => free[from + n] && convert(free[from + n]!, word.value, people) !== undefined)
  const inOrder = (those: readonly Word[]) =>
    those.map((word, n): [CommandOption | undefined, string] => [free[n], word.value])

  const at = last ? free.indexOf(last) : -1
  if (at >= 0) {
    const own = byPlace.slice(at)
    if (own.length < 2 || fits(at + 1, own.slice(1))) return inOrder(byPlace)
    return [...inOrder(byPlace.slice(0, at)), [last, joined(own)]]
  }
  // Given by its name, it takes the words behind it that fit no other option.
  const end = words.findIndex(({ name }, n) => n > named && name !== undefined)
  const behind = named < 0 || words[named]!.isQuoted ? [] : words.slice(named + 1, end < 0 ? undefined : end)
  if (behind.length === 0 || fits(0, byPlace)) return inOrder(byPlace)
  const taken = new Set(behind)
  const others = byPlace.filter((word) => !taken.has(word))
  return [...inOrder(others), [last, joined([words[named]!, ...behind])]]
}

/** The text of words as it stands in the line, but for options that are given by name between them. */
function joined(words: readonly Word[]): string {
  const [first, ...others] = words
  return others.reduce((text, word) => text + word.space + word.raw, first!.name ? first!.value : first!.raw)
}

function convert({ type, choices }: CommandOption, text: string, people: readonly NamedUser[]) {
  const value = ofType(type, text, people)
  if (!choices) return value
  const isSame = (choice: string | number) =>
    choice === value || (typeof choice === 'string' && choice.toLowerCase() === text.toLowerCase())
  return choices.find((choice) => choice === value) ?? choices.find(isSame)
}

function ofType(type: CommandOption['type'], text: string, people: readonly NamedUser[]) {
  switch (type) {
    case 'integer':
      return /^[+-]?\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined
    case 'number':
      return /^[+-]?(\d+\.?\d*|\.\d+)$/.test(text) ? Number(text) : undefined
    case 'boolean':
      return Object.hasOwn(BOOLEANS, text.toLowerCase()) ? BOOLEANS[text.toLowerCase()] : undefined
    case 'user': {
      const name = text.replace(/^@/, '').toLowerCase()
      return (
        people.find(({ username }) => username.toLowerCase() === name)?.id ??
        (ID.test(text) ? text.toLowerCase() : undefined)
      )
    }
    default:
      return text
  }
}

function misfit(option: CommandOption, text: string): CommandProblem {
  const { name, type, choices } = option
  return choices
    ? { code: 'no_choice', message: `"${name}" must be one of ${choices.join(', ')}.`, option, text }
    : { code: 'wrong_type', message: `"${name}" must be ${TYPES[type]}.`, option, text }
}
