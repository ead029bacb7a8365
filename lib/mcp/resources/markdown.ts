import type { Message } from '../../chat/messages/schema.ts'
import { beginning, MAX_RESULT_BYTES } from '../bounds.ts'
import { toUri } from './uri.ts'

/** The maximum size of the text of a resource, without the URI of the rest. */
export const MAX_TEXT_BYTES = MAX_RESULT_BYTES - 8 * 1024

/** Everything that any program takes for the end of a line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: readers of lines of some languages end one there.
const LINE_ENDS = /\r\n|[\n\v\f\r\u001c-\u001e\u0085\u2028\u2029]/

/** A message of a text, with the name of its author as far as it is known. */
export type AuthoredMessage = Message & { author?: string }

/**
 * A text of a user, quoted line by line: whatever is in it, no line of it can pose as one that the service has written, such as
 * the heading of another message.
 */
export function quoted(text: string): string {
  return text
    .split(LINE_ENDS)
    .map((line) => `> ${line}`.trimEnd())
    .join('\n')
}

/** A name in a heading: on one line, and without what begins something else in Markdown. */
const inHeading = (name: string) => JSON.stringify(name.replace(/[\s\p{C}]+/gu, ' ')).replace(/[`*_[\]<>#|]/g, '\\$&')

/**
 * A message: a heading with its author, time and id, and its text, of which what does not fit is left out.
 *
 * @param room how many bytes it may take
 * @param from where its text begins
 */
export function toMarkdown(message: AuthoredMessage, room: number, from = 0): string {
  const { id, conversation_id, created_at, content, prompt, deleted_at, attachments = [] } = message
  const heading = `## ${authorOf(message)} · ${created_at} · ${id}`
  if (deleted_at !== undefined) return `${heading}\n\n_deleted_`
  const files = attachments.map(({ name }) => `file: ${name}`).join('\n')
  const before = [
    heading,
    ...(prompt !== undefined && from === 0 ? [`_asked:_\n\n${quoted(beginning(prompt, room / 4, quotedSize))}`] : []),
  ]
  const after = files && from === 0 ? [quoted(files)] : []
  const left = room - Buffer.byteLength([...before, ...after].join('\n\n')) - 300
  const text = content.slice(from)
  const shown = beginning(text, left, quotedSize)
  const end = from + shown.length
  const rest = shown === text ? [] : [`_continued at ${toUri({ conversation_id, message_id: id }, String(end))}_`]
  return [...before, quoted(shown), ...after, ...rest].join('\n\n')
}

function authorOf({ author, role, author_kind, assistant }: AuthoredMessage): string {
  const kind = role === 'user' ? author_kind : role
  const name = author === undefined ? undefined : inHeading(author)
  return [name, kind && `(${kind}${assistant ? ` ${assistant}` : ''})`].filter(Boolean).join(' ') || 'unknown'
}

/** The size of a text when it is quoted, in bytes. */
const quotedSize = (text: string) => Buffer.byteLength(quoted(text))
