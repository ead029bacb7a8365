import { type CallPart, hasInput, type RowStep } from '../../protocols/rows/rules.ts'
import { argumentsOf, asText } from '../../protocols/rows/rules-texts.ts'
import { toOpenAiId } from './rules-ids.ts'
import type { CallItem, MessageItem, OutputItem, ReasoningItem, UrlCitation } from './schema.ts'
import type { ResponseEvent } from './schema-events.ts'

/** An event without its number, which the stream gives it. */
export type Unnumbered = ResponseEvent extends infer Event
  ? Event extends { sequence_number: number }
    ? Omit<Event, 'sequence_number'>
    : never
  : never

/** The label under which clients see our tools: a program that has them elsewhere. */
export const SERVER_LABEL = 'chat'

/** The output of one response, as its rows make it. */
export interface ResponseItems {
  /** The events of a row. */
  take(step: RowStep): Unnumbered[]
  /** The events that end what is open. */
  close(): Unnumbered[]
  /** The items so far. */
  list(): OutputItem[]
  /** All that it keeps: a value that does not change. */
  save(): unknown
  /** Goes on where the output of the same rows was saved. */
  restore(saved: unknown): void
}

/** How an address of a file is made for clients. */
export type FileUrl = (attachmentId: string) => string

type SourcePart = Extract<Exclude<RowStep, { type: 'text' }>['part'], { type: 'source' | 'file' }>

/** What is open: text or reasoning, with its item and place. */
type Open = { index: number; item: MessageItem; from: number } | { index: number; item: ReasoningItem }

interface Kept {
  items: OutputItem[]
  calls: Map<number, { index: number; item: CallItem }>
  /** Citations for which there was no text yet. */
  pending: SourcePart[]
  open: Open | undefined
  length: number
}

/** Creates the output of one response of an answer: of the rows of one segment. */
export function createItems(messageId: string, toFileUrl: FileUrl): ResponseItems {
  const place: Kept = { items: [], calls: new Map(), pending: [], open: undefined, length: 0 }

  function add(item: OutputItem): { index: number; event: Unnumbered } {
    const index = place.items.push(item) - 1
    return { index, event: { type: 'response.output_item.added', output_index: index, item: structuredClone(item) } }
  }

  const done = (index: number): Unnumbered => ({
    type: 'response.output_item.done',
    output_index: index,
    item: structuredClone(place.items[index]!),
  })

  function text({ idx, text: delta, from }: Extract<RowStep, { type: 'text' }>): Unnumbered[] {
    const events = place.open?.item.type === 'message' ? [] : [...closeOpen(), ...openMessage(idx, from)]
    const { index, item } = place.open as Extract<Open, { from: number }>
    item.content[0]!.text += delta
    place.length = from + delta.length
    return [
      ...events,
      { type: 'response.output_text.delta', ...at(index, item), delta, logprobs: [] },
      ...place.pending.splice(0).flatMap(cite),
    ]
  }

  function openMessage(idx: number, from: number): Unnumbered[] {
    const item: MessageItem = {
      id: toOpenAiId('message', messageId, idx),
      type: 'message',
      role: 'assistant',
      status: 'in_progress',
      content: [],
    }
    const { index, event } = add(item)
    const part = { type: 'output_text' as const, text: '', annotations: [], logprobs: [] }
    item.content.push(part)
    place.open = { index, item, from }
    return [event, { type: 'response.content_part.added', ...at(index, item), part: structuredClone(part) }]
  }

  function reasoning({ change }: Extract<RowStep, { type: 'part' }>): Unnumbered[] {
    const id = toOpenAiId('reasoning', messageId, change.id)
    const isOpen = place.open?.item.id === id
    const events = isOpen ? [] : [...closeOpen(), ...openReasoning(id)]
    const { index, item } = place.open as Extract<Open, { item: ReasoningItem }>
    const delta = change.delta ?? change.text ?? ''
    if (delta === '' || (isOpen && change.text !== undefined)) return events
    item.content[0]!.text += delta
    return [...events, { type: 'response.reasoning_text.delta', ...at(index, item), delta }]
  }

  function openReasoning(id: string): Unnumbered[] {
    const item: ReasoningItem = { id, type: 'reasoning', summary: [], content: [], status: 'in_progress' }
    const { index, event } = add(item)
    const part = { type: 'reasoning_text' as const, text: '' }
    item.content.push(part)
    place.open = { index, item }
    return [event, { type: 'response.content_part.added', ...at(index, item), part: { ...part } }]
  }

  function closeOpen(): Unnumbered[] {
    const { open } = place
    if (!open) return []
    place.open = undefined
    const { index, item } = open
    item.status = 'completed'
    const part = structuredClone(item.content[0]!)
    const ended: Unnumbered =
      item.type === 'message'
        ? { type: 'response.output_text.done', ...at(index, item), text: part.text, logprobs: [] }
        : { type: 'response.reasoning_text.done', ...at(index, item), text: part.text }
    return [ended, { type: 'response.content_part.done', ...at(index, item), part }, done(index)]
  }

  /** A source or a file, as a citation of the text that is open. */
  function cite(part: SourcePart): Unnumbered[] {
    const open = place.open
    if (open?.item.type !== 'message') {
      place.pending.push(part)
      return []
    }
    const annotation = toAnnotation(part, open as Extract<Open, { from: number }>)
    if (!annotation) return []
    const [content] = open.item.content
    const annotation_index = content!.annotations.push(annotation) - 1
    return [
      { type: 'response.output_text.annotation.added', ...at(open.index, open.item), annotation_index, annotation },
    ]
  }

  function toAnnotation(part: SourcePart, { item, from }: Extract<Open, { from: number }>): UrlCitation | undefined {
    const url = part.type === 'file' ? toFileUrl(part.attachment_id) : part.url
    // One without an address is no citation there.
    if (url === undefined) return undefined
    const { length } = item.content[0]!.text
    const within = (offset: number) => Math.min(length, Math.max(0, offset - from))
    const [start, end] = part.type === 'source' && part.range ? part.range.map(within) : [length, length]
    const title = part.type === 'file' ? part.name : (part.title ?? url)
    return { type: 'url_citation', url, title, start_index: start!, end_index: end! }
  }

  function call(part: CallPart, before: CallPart | undefined): Unnumbered[] {
    const { state } = part
    if (!hasInput(part) || state === 'requested' || state === 'approved') return []
    if (state === before?.state && hasInput(before)) return []
    if (state === 'waiting') {
      const { index, event } = add(toApprovalRequest(part))
      return [...closeOpen(), event, done(index)]
    }
    const begun = place.calls.has(part.id) ? [] : begin(part, before)
    return state === 'running' ? begun : [...begun, ...end(part)]
  }

  function begin(part: CallPart, before: CallPart | undefined): Unnumbered[] {
    const closed = closeOpen()
    const isAsked = part.approval !== undefined || before?.approval !== undefined
    const item: CallItem = {
      id: toOpenAiId('call', part.call_id),
      type: 'mcp_call',
      server_label: SERVER_LABEL,
      name: part.name,
      arguments: '',
      approval_request_id: isAsked ? toOpenAiId('approval', part.call_id) : null,
      output: null,
      error: null,
      status: 'in_progress',
    }
    const { index, event } = add(item)
    place.calls.set(part.id, { index, item })
    item.arguments = argumentsOf(part)
    const of = { output_index: index, item_id: item.id }
    return [
      ...closed,
      event,
      { type: 'response.mcp_call.in_progress', ...of },
      { type: 'response.mcp_call_arguments.done', ...of, arguments: item.arguments },
    ]
  }

  function end(part: CallPart): Unnumbered[] {
    const { index, item } = place.calls.get(part.id)!
    if (item.status !== 'in_progress') return []
    const isDone = part.state === 'done'
    item.status = isDone ? 'completed' : 'failed'
    if (part.output !== undefined) item.output = asText(part.output)
    if (!isDone) item.error = part.error?.message ?? part.state
    const type = isDone ? 'response.mcp_call.completed' : 'response.mcp_call.failed'
    return [{ type, output_index: index, item_id: item.id }, done(index)]
  }

  return {
    take(step) {
      if (step.type === 'text') return text(step)
      const { part, before } = step
      switch (part.type) {
        case 'reasoning':
          return reasoning(step)
        case 'tool':
          return call(part, before as CallPart | undefined)
        case 'source':
        case 'file':
          return cite(part)
        default:
          return []
      }
    },
    close() {
      // Citations without any text after them have a text of their own, which is empty.
      const { pending } = place
      const cited = pending.length > 0 ? [...closeOpen(), ...openMessage(pending[0]!.id, place.length)] : []
      const rest = pending.splice(0)
      const cut = [...place.calls.values()].filter(({ item }) => item.status === 'in_progress')
      return [
        ...cited,
        ...rest.flatMap(cite),
        ...closeOpen(),
        ...cut.flatMap(({ index, item }) => {
          Object.assign(item, { status: 'failed', error: 'unknown' })
          return [{ type: 'response.mcp_call.failed' as const, output_index: index, item_id: item.id }, done(index)]
        }),
      ]
    },
    list: () => place.items,
    save: () => copyOf(place),
    restore: (saved) => void Object.assign(place, copyOf(saved as Kept)),
  }
}

/** A copy of what may change: items that have ended, and all texts, are shared. A long answer is not copied for each of its pages. */
function copyOf({ items, calls, pending, open, length }: Kept): Kept {
  const own = [...items]
  function replace<Item extends OutputItem>(index: number, item: Item): Item {
    own[index] = item
    return item
  }
  const copied = ({ index, item }: { index: number; item: CallItem }) => ({ index, item: replace(index, { ...item }) })
  return {
    items: own,
    calls: new Map([...calls].map(([id, call]) => [id, call.item.status === 'in_progress' ? copied(call) : call])),
    pending: [...pending],
    open: open && copyOfOpen(open, replace),
    length,
  }
}

function copyOfOpen(open: Open, replace: <Item extends OutputItem>(index: number, item: Item) => Item): Open {
  const { index, item } = open
  if (item.type === 'reasoning')
    return { index, item: replace(index, { ...item, content: item.content.map((each) => ({ ...each })) }) }
  const content = item.content.map((each) => ({ ...each, annotations: [...each.annotations] }))
  return { index, item: replace(index, { ...item, content }), from: (open as Extract<Open, { from: number }>).from }
}

const at = (output_index: number, { id }: { id: string }) => ({ output_index, item_id: id, content_index: 0 as const })

function toApprovalRequest(part: CallPart): OutputItem {
  return {
    id: toOpenAiId('approval', part.call_id),
    type: 'mcp_approval_request',
    server_label: SERVER_LABEL,
    name: part.name,
    arguments: argumentsOf(part),
  }
}
