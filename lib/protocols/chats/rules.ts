import { isId } from '../../core/schema.ts'

/** How many names of chats a user has: the least used go. */
export const MAX_CHATS = 10_000

/** Behind the id of an answer: the question in it, which clients have as a message of its own. */
const PROMPT = ':prompt'

/** The id of a message that a client names: an answer, or the question in it. `undefined` for an id that is not of this service. */
export function toMessageId(id: string | undefined): string | undefined {
  const own = id?.endsWith(PROMPT) ? id.slice(0, -PROMPT.length) : id
  return own !== undefined && isId(own) ? own : undefined
}

/** Whether an id may be that of the question in an answer. */
export const isPromptId = (id: string): boolean => id.endsWith(PROMPT)

/** The id of the question in an answer. */
export function promptId(answerId: string): string {
  return `${answerId}${PROMPT}`
}

/** Whether a text can be the name of a chat. */
export const isChatName = (text: string): boolean => /^[!-~]{1,128}$/.test(text) && text !== '.' && text !== '..'

/** The name of the conversation in which clients of OpenAI ask who name none: it has no thread, and stays. */
export const API_CHAT = ' api'

/** Whether a text may be a name that the service gives, which no client can: it begins with a space. */
export const isServiceName = (text: string): boolean => /^ [!-~]{1,127}$/.test(text)
