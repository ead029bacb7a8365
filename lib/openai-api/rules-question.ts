import { type ContextTurn, MAX_CONTEXT_TURNS } from '../chat/answers/schema-context.ts'
import { isVisible } from '../core/characters.ts'
import { invalid } from '../core/errors.ts'
import { MAX_LENGTH } from '../core/lengths.ts'
import { isStorable } from '../core/schema.ts'

/** What a client has said, or repeats. */
export interface Said {
  role: 'user' | 'assistant' | 'system' | 'developer'
  content?: string | null | undefined | readonly SaidPart[]
}

interface SaidPart {
  type: string
  text?: string | undefined
  refusal?: string | undefined
}

/** A question, and what the assistant is told before it. */
export interface Question {
  content: string
  context: ContextTurn[]
}

/**
 * The question of a list of what was said: the last that the user said. All else is told to the assistant before it.
 *
 * @param field the name of the list, for its problems
 * @param options.in_chat whether the chat has what was said before: then only instructions may come with a question
 * @throws ChatError `validation_failed`
 */
export function toQuestion(
  said: readonly Said[],
  { field, instructions, in_chat }: { field: string; instructions?: string | null | undefined; in_chat: boolean },
): Question {
  const last = said.findLastIndex(({ role }) => role === 'user')
  const first = said.slice(0, last + 1).findLastIndex(({ role }) => role !== 'user') + 1
  const content =
    last < 0
      ? ''
      : said
          .slice(first, last + 1)
          .map((each) => textOf(each, field))
          .join('\n\n')
  if (!isVisible(content)) throw invalid(field, 'must have something visible that the user asks')
  const rest = [...said.slice(0, first), ...said.slice(last + 1)]
  if (said.slice(last + 1).some(({ role }) => role === 'assistant'))
    throw invalid(field, 'must end with what the user asks')
  if (in_chat && rest.some(({ role }) => role === 'user' || role === 'assistant'))
    throw invalid(field, 'must have only the question: the conversation has what was said before')
  if (instructions && !isStorable(instructions))
    throw invalid('instructions', 'must have no NUL and no half of a surrogate pair')
  const context = [
    ...(instructions ? [{ role: 'system' as const, content: instructions }] : []),
    ...rest.map((each) => ({
      role: each.role === 'developer' ? ('system' as const) : each.role,
      content: textOf(each, field),
    })),
  ].filter((turn) => turn.content !== '')
  if (context.length > MAX_CONTEXT_TURNS)
    throw invalid(field, `must have at most ${MAX_CONTEXT_TURNS} items before the question`)
  if (Buffer.byteLength(JSON.stringify(context)) > MAX_LENGTH.context)
    throw invalid(field, 'must have at most 64 KiB before the question')
  return { content, context }
}

function textOf(said: Said, field: string): string {
  const text = joined(said, field)
  if (!isStorable(text)) throw invalid(field, 'must have no NUL and no half of a surrogate pair')
  return text
}

function joined({ role, content }: Said, field: string): string {
  if (content === undefined || content === null || typeof content === 'string') return content ?? ''
  if (role === 'user' && content.some(({ text }) => text === undefined))
    throw invalid(field, 'must have text alone: files are attached to messages')
  return content.map(({ text, refusal }) => text ?? refusal ?? '').join('')
}

/**
 * The body of a call, without the fields that are `null`: these say what missing ones say.
 *
 * @throws ChatError `validation_failed` for what is not served, where it would be missed
 */
export function servedFields(body: unknown): Record<string, unknown> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw invalid('', 'must be an object')
  const fields = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))
  const { store, n, tools, audio, prompt } = fields
  if (store === false) throw invalid('store', 'must not be false: answers are stored')
  if (typeof n === 'number' && n > 1) throw invalid('n', 'must be 1')
  if (Array.isArray(tools) && tools.length > 0)
    throw invalid('tools', 'must be empty: the tools are those of the assistants')
  if (audio !== undefined) throw invalid('audio', 'must be left out')
  if (prompt !== undefined) throw invalid('prompt', 'must be left out')
  return fields
}
