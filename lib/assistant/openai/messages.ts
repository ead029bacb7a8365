import type { AssistantRequest, GivenPart, OfferedTool, Turn } from '../provider.ts'

/** What is sent of the files of a thread, by their ids. */
export interface Files {
  /** As data URLs. */
  pictures: Map<string, string>
  texts: Map<string, string>
}

/** A message as servers take it. */
export type ModelMessage =
  | { role: string; content: unknown }
  | { role: 'assistant'; content: string | null; tool_calls: ModelToolCall[] }
  | { role: 'tool'; tool_call_id: string; content: string }

interface ModelToolCall {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

type CallPart = Extract<GivenPart, { type: 'tool' }>

/** The body of a request. */
export function toBody(model: string, { turns, so_far, tools }: AssistantRequest, files: Files) {
  return {
    model,
    messages: [...withOneSystemTurn(turns).flatMap((turn) => toMessages(turn, files)), ...toAnswerMessages(so_far)],
    ...(tools.length > 0 && { tools: tools.map(toTool) }),
    stream: true,
    stream_options: { include_usage: true },
  }
}

/** Many servers take one system message only, as the first. */
function withOneSystemTurn(turns: readonly Turn[]): readonly Turn[] {
  const told = turns.filter(({ role }) => role === 'system')
  if (told.length === 0) return turns
  const content = told.map((turn) => turn.content).join('\n\n')
  return [{ role: 'system', content }, ...turns.filter(({ role }) => role !== 'system')]
}

function toTool({ name, description, schema }: OfferedTool) {
  return { type: 'function', function: { name, description, parameters: schema } }
}

function toMessages(turn: Turn, files: Files): ModelMessage[] {
  const { role, attachments, parts = [] } = turn
  if (role === 'user') return [{ role, content: withPictures(turn, files) }]
  if (!parts.some(({ type }) => type === 'tool')) return [{ role, content: withFiles(turn, files.texts) }]
  const names = withFiles({ content: '', attachments: attachments ?? [] }, files.texts)
  return [...toAnswerMessages(parts), ...(names ? [{ role, content: names }] : [])]
}

/** The text of a turn; with pictures, a list of parts. */
function withPictures(turn: Turn, { pictures, texts }: Files) {
  const urls = (turn.attachments ?? []).flatMap(({ id }) => pictures.get(id) ?? [])
  const text = withFiles(turn, texts)
  if (urls.length === 0) return text
  return [{ type: 'text', text }, ...urls.map((url) => ({ type: 'image_url', image_url: { url } }))]
}

/** The text of a turn, with the names of its files, and the texts that are known. */
function withFiles(
  { content, attachments = [] }: Pick<Turn, 'content' | 'attachments'>,
  texts: Files['texts'],
): string {
  const lines = attachments.map(({ id, name, type, size }) => {
    const text = texts.get(id)
    return `[File: ${name}, ${type}, ${size} bytes]${text === undefined ? '' : `\n${text}`}`
  })
  return [...(content ? [content] : []), ...lines].join('\n')
}

/** The longest name of a function, and what it has, by OpenAI's description: servers refuse others, even in what a model has said. */
const toFunctionName = (name: string) => name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64)

/**
 * An answer with calls as messages: text and the calls after it are one, and the result of each call follows as one of its own.
 * Servers refuse calls without results, and results without calls.
 */
export function toAnswerMessages(parts: readonly GivenPart[]): ModelMessage[] {
  const messages: ModelMessage[] = []
  let text = ''
  let calls: CallPart[] = []

  function end(): void {
    const content = text.replace(/^\n\n/, '')
    if (calls.length > 0) messages.push({ role: 'assistant', content: content || null, tool_calls: calls.map(toCall) })
    else if (content) messages.push({ role: 'assistant', content })
    messages.push(...calls.map(toResult))
    text = ''
    calls = []
  }

  for (const part of parts) {
    if (part.type === 'tool') calls.push(part)
    if (part.type === 'step' || (part.type === 'text' && calls.length > 0)) end()
    if (part.type === 'text') text += part.text
  }
  end()
  return messages
}

function toCall({ call_id, name, input = {} }: CallPart): ModelToolCall {
  return {
    id: call_id,
    type: 'function',
    function: { name: toFunctionName(name), arguments: JSON.stringify(input) },
  }
}

/** A text is sent as it is, since it is for a model; an empty one as JSON, since servers refuse empty content. */
function toResult({ call_id, output, error }: CallPart): ModelMessage {
  const text = typeof output === 'string' && output !== '' ? output : JSON.stringify(output)
  return { role: 'tool', tool_call_id: call_id, content: text ?? error?.message ?? 'no result' }
}
