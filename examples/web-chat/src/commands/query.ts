import type { Command } from 'chat-server/client'
import type { Edit } from '../compose/edit.ts'

/** How many commands are offered at once. */
const MAX_CHOICES = 8

/** What begins as a call of a command does. */
const CALL = /^\/[a-z0-9_-]{1,32}(?=[\s@]|$)/i

/** Whether a text is one that calls a command, or looks like it. */
export const isCall = (text: string) => CALL.test(text)

/** A command whose name is being typed, at the start of the text. */
export interface CommandQuery {
  start: number
  query: string
}

/** The name that is being typed before the caret. */
export function commandQueryOf(text: string, caret: number): CommandQuery | undefined {
  const match = /^\/([a-z0-9_-]{0,32})$/i.exec(text.slice(0, Math.min(caret, 40)))
  return match && caret <= 40 ? { start: 0, query: match[1]!.toLowerCase() } : undefined
}

/** The commands whose names begin so, then those that have it inside. */
export function matchingCommands(commands: readonly Command[], query: string): Command[] {
  const beginning = commands.filter(({ name }) => name.startsWith(query))
  const others = commands.filter(({ name }) => !name.startsWith(query) && name.includes(query))
  return [...beginning, ...others].slice(0, MAX_CHOICES)
}

/** The name of a command in a text, with its bot where another one has a command of that name. */
export function callNameOf({ name, bot }: Command, commands: readonly Command[]): string {
  const isShared = commands.some((other) => other.name === name && other.bot.id !== bot.id)
  return isShared ? `/${name}@${bot.username}` : `/${name}`
}

/** What is typed behind the name: what may be left out is in brackets. */
export function signatureOf({ options = [] }: Command): string {
  return options.map(({ name, required }) => (required ? name : `[${name}]`)).join(' ')
}

/** Puts a name in the place of what was typed of it. */
export function commandEdit(text: string, { start, query }: CommandQuery, name: string): Edit {
  const end = start + 1 + query.length
  const space = text.slice(end).startsWith(' ') ? '' : ' '
  const caret = start + name.length + 1
  return { from: start, to: end, text: name + space, start: caret, end: caret }
}
