import type { Written } from '../../chat/answers/service-rows.ts'
import { type CallPart, hasInput, type RowStep } from '../rows/rules.ts'
import { argumentsOf, failureText } from '../rows/rules-texts.ts'
import { isCustom, resultOf, toCustom, toPartMessageId, type UrlOf } from './rules-parts.ts'
import type { AgUiEvent, AgUiInterrupt } from './schema-events.ts'
import type { AgUiMessage } from './schema-messages.ts'

/** A run of a client. */
export interface Run {
  thread_id: string
  run_id: string
  /** For a client of 0.x, which knows no outcome but that of an interrupt. */
  is_old: boolean
}

/** The messages of a chat at some moment. */
export interface Snapshot {
  messages: AgUiMessage[]
  /** Whether earlier messages are left out. */
  has_earlier: boolean
}

type Answer = Pick<Written, 'id' | 'root_id' | 'conversation_id' | 'variant_of'>

/** The first event of a run. @param answer the one that it is about, if there is one */
export function toRunStarted({ thread_id, run_id }: Run, answer?: Answer): AgUiEvent {
  const begin = { type: 'RUN_STARTED' as const, threadId: thread_id, runId: run_id, protocolVersion: '1.0' as const }
  if (!answer) return begin
  const { id: message_id, root_id, conversation_id, variant_of } = answer
  const facts = { message_id, root_id, conversation_id, ...(variant_of !== undefined && { variant_of }) }
  return { ...begin, metadata: { 'chat-server': facts } }
}

/** The messages of a chat as an event. */
export function toSnapshotEvent({ messages, has_earlier }: Snapshot): AgUiEvent {
  const metadata = { 'chat-server': { has_earlier: true as const } }
  return { type: 'MESSAGES_SNAPSHOT', messages, ...(has_earlier && { metadata }) }
}

/** The end of a run without an answer. */
export function toSuccess({ thread_id, run_id, is_old }: Run): AgUiEvent {
  const outcome = { type: 'success' as const }
  return { type: 'RUN_FINISHED', threadId: thread_id, runId: run_id, ...(!is_old && { outcome }) }
}

/** The end of a run whose answer waits. @param calls those that wait */
export function toInterrupt({ thread_id, run_id }: Run, calls: readonly CallPart[]): AgUiEvent {
  const outcome = { type: 'interrupt' as const, interrupts: calls.map(interruptOf) }
  const metadata = { 'chat-server': { status: 'waiting' as const } }
  return { type: 'RUN_FINISHED', threadId: thread_id, runId: run_id, outcome, metadata }
}

/** The end of a run that leaves interrupts open. */
export function toOpenInterrupts(): AgUiEvent {
  return {
    type: 'RUN_ERROR',
    message: 'The chat waits for decisions: answer all its interrupts first.',
    code: 'conflict',
  }
}

function interruptOf({ call_id, name, title = name, approval }: CallPart): AgUiInterrupt {
  const { by, quorum, expires_at } = approval ?? {}
  return {
    id: call_id,
    reason: 'tool_call',
    message: `Approve the call of “${title}”?`,
    toolCallId: call_id,
    responseSchema: { type: 'object', properties: { approved: { type: 'boolean' } }, required: ['approved'] },
    ...(expires_at !== undefined && { expiresAt: expires_at }),
    ...(by !== undefined && quorum !== undefined && { metadata: { 'chat-server': { by, quorum } } }),
  }
}

/** The end of a run whose answer has ended. */
export function toEnd(run: Run, { status, finish_reason, failure, usage }: Written): AgUiEvent {
  const used = usage && { usage: [toUsage(usage)] }
  if (status === 'failed' || status === 'interrupted') {
    const code = failure ?? (status === 'failed' ? 'provider_error' : 'interrupted')
    return { type: 'RUN_ERROR', message: failureText(failure), code, ...used }
  }
  const outcome = { type: status === 'cancelled' ? ('cancelled' as const) : ('success' as const) }
  const facts = { status, ...(finish_reason !== undefined && { finish_reason }) }
  return {
    type: 'RUN_FINISHED',
    threadId: run.thread_id,
    runId: run.run_id,
    ...(!run.is_old && { outcome }),
    ...used,
    metadata: { 'chat-server': facts },
  }
}

function toUsage(usage: NonNullable<Written['usage']>) {
  const { prompt_tokens, completion_tokens, total_tokens, cached_tokens, reasoning_tokens } = usage
  return {
    ...(prompt_tokens !== undefined && { inputTokens: prompt_tokens }),
    ...(completion_tokens !== undefined && { outputTokens: completion_tokens }),
    ...(total_tokens !== undefined && { totalTokens: total_tokens }),
    ...(cached_tokens !== undefined && { cachedInputTokens: cached_tokens }),
    ...(reasoning_tokens !== undefined && { reasoningTokens: reasoning_tokens }),
  }
}

/** A text, or what the model wrote before it answered, that is open. */
interface Open {
  kind: 'text' | 'reasoning'
  part_id: number
  id: string
}

/**
 * Writes the rows of an answer as events, which are a function of its rows alone. What is open is closed before anything else
 * begins.
 */
export function createEventWriter(answerId: string, urlOf: UrlOf) {
  let open: Open | undefined
  let step: string | undefined

  function closePart(): AgUiEvent[] {
    if (!open) return []
    const { kind, id } = open
    open = undefined
    if (kind === 'text') return [{ type: 'TEXT_MESSAGE_END', messageId: id }]
    return [
      { type: 'REASONING_MESSAGE_END', messageId: id },
      { type: 'REASONING_END', messageId: id },
    ]
  }

  function closeStep(): AgUiEvent[] {
    const ended = step === undefined ? [] : [{ type: 'STEP_FINISHED' as const, stepName: step }]
    step = undefined
    return ended
  }

  /** A piece of a text. */
  function say(kind: Open['kind'], { part_id, id, delta }: Omit<Open, 'kind'> & { delta: string }): AgUiEvent[] {
    if (delta === '') return []
    const type = kind === 'text' ? 'TEXT_MESSAGE_CONTENT' : 'REASONING_MESSAGE_CONTENT'
    if (open?.kind === kind && open.part_id === part_id) return [{ type, messageId: open.id, delta }]
    const before = closePart()
    open = { kind, part_id, id }
    return [...before, ...beginOf(open), { type, messageId: id, delta }]
  }

  return {
    row(row: RowStep): AgUiEvent[] {
      if (row.type === 'text') {
        const { part_id, is_first, text } = row
        return say('text', { part_id, id: toPartMessageId(answerId, part_id, is_first), delta: text })
      }
      const { change, part, before } = row
      if (part.type === 'reasoning') {
        const delta = change.delta ?? change.text ?? ''
        return say('reasoning', { part_id: part.id, id: toPartMessageId(answerId, part.id), delta })
      }
      if (part.type === 'tool') return [...closePart(), ...callEvents(answerId, part, before as CallPart | undefined)]
      if (isCustom(part)) return [...closePart(), customEvent(part, urlOf)]
      if (part.type !== 'step') return []
      const ended = [...closePart(), ...closeStep()]
      step = `step ${part.step}`
      return [...ended, { type: 'STEP_STARTED', stepName: step }]
    },
    save: () => ({ open, step }),
    restore(saved: unknown): void {
      const before = saved as { open: Open | undefined; step: string | undefined }
      open = before.open
      step = before.step
    },
    /** Closes what is open, before the end of a run. */
    close: (): AgUiEvent[] => [...closePart(), ...closeStep()],
  }
}

function beginOf({ kind, id }: Open): AgUiEvent[] {
  if (kind === 'text') return [{ type: 'TEXT_MESSAGE_START', messageId: id, role: 'assistant' }]
  return [
    { type: 'REASONING_START', messageId: id },
    { type: 'REASONING_MESSAGE_START', messageId: id, role: 'reasoning' },
  ]
}

/** The events of a row of a call: its begin, unless it has begun before, and its result. */
function callEvents(answerId: string, call: CallPart, before: CallPart | undefined): AgUiEvent[] {
  const { call_id: toolCallId, name: toolCallName, state } = call
  const begin: AgUiEvent[] =
    hasInput(call) && !hasInput(before)
      ? [
          { type: 'TOOL_CALL_START', toolCallId, toolCallName },
          { type: 'TOOL_CALL_ARGS', toolCallId, delta: argumentsOf(call) },
          { type: 'TOOL_CALL_END', toolCallId },
        ]
      : []
  const content = state === before?.state ? undefined : resultOf(call)
  if (content === undefined) return begin
  const metadata = { 'chat-server': { message_id: answerId, state } }
  const messageId = toPartMessageId(answerId, call.id)
  return [...begin, { type: 'TOOL_CALL_RESULT', messageId, toolCallId, role: 'tool', content, metadata }]
}

function customEvent(part: Parameters<typeof toCustom>[0], urlOf: UrlOf): AgUiEvent {
  const key = part.type === 'data' && part.key !== undefined ? { key: part.key } : {}
  return { type: 'CUSTOM', ...toCustom(part, urlOf), metadata: { 'chat-server': { type: part.type, ...key } } }
}
