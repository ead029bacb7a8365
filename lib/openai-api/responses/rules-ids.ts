/** The kinds of ids of OpenAI's API, by their prefixes. */
const PREFIXES = {
  response: 'resp',
  conversation: 'conv',
  message: 'msg',
  reasoning: 'rs',
  call: 'mcp',
  approval: 'mcpr',
  completion: 'chatcmpl-',
} as const
type Kind = keyof typeof PREFIXES

const startOf = (kind: Kind) => (PREFIXES[kind].endsWith('-') ? PREFIXES[kind] : `${PREFIXES[kind]}_`)

/**
 * An id as OpenAI's clients get it: the hexadecimal digits of ours behind a prefix.
 *
 * @param more tells apart what belongs to one message: the number of the first row of an item, or `question`; of a response the number of its segment
 */
export function toOpenAiId(kind: Kind, id: string, more: string | number = 0): string {
  return `${startOf(kind)}${id.replaceAll('-', '')}${more === 0 ? '' : `_${more}`}`
}

/** How the names of conversations begin, which are names of chats. */
const CONVERSATION_START = startOf('conversation')

/** What the item of a question is told apart from those of its answer by. */
export const QUESTION = 'question'

/** Our id in an id of this kind, and what follows it; `undefined` for a text of another form. */
export function fromOpenAiId(kind: Kind, text: string): { id: string; more: string | undefined } | undefined {
  const start = startOf(kind)
  const match = text.startsWith(start) ? FORM.exec(text.slice(start.length)) : null
  if (!match) return undefined
  const [, first, second, third, fourth, fifth, more] = match
  return { id: [first, second, third, fourth, fifth].join('-'), more }
}

const FORM = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})(?:_([0-9a-z]{1,10}))?$/

/** How the names of conversations of OpenAI begin: with a space, as no name of a client. */
export const NAME_START = ` ${CONVERSATION_START}`

/** The name of the chat that is this conversation of OpenAI. */
export const toName = (id: string) => ` ${id}`

/** The conversation of OpenAI with this name. */
export const toGivenName = (name: string | undefined) => name?.slice(1)
