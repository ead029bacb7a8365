import type { Written } from '../../chat/answers/service-rows.ts'
import { formatEvent } from '../../core/sse-format.ts'
import type { AnswerFrames } from '../rows/framing.ts'
import { type CallPart, hasInput, type RowStep } from '../rows/rules.ts'
import { callFailureText, failureText, isFailedState } from '../rows/rules-texts.ts'
import type { UiFrame } from './schema-frames.ts'

/** How the frames of one stream differ from those of another. */
export interface UiOptions {
  /** For a client of version 5, which knows no approvals. */
  is_old: boolean
  /** Whether the stream goes on behind a decision: its client has the answer up to there. */
  is_continued: boolean
  /** The address of a file of the service. */
  urlOf(attachmentId: string): string
}

/** The frames of an answer as text. */
export function createUiFrames(message: Written, options: UiOptions): AnswerFrames {
  const { begin, row, wait, end, save, restore } = createUiWriter(message, options)
  const toText = (frames: readonly UiFrame[]) => frames.map((frame) => formatEvent({ data: JSON.stringify(frame) }))
  const last = (frames: readonly UiFrame[]) => [...toText(frames), DONE].join('')
  return {
    begin: () => toText(begin()).join(''),
    row: (step) => toText(row(step)).join(''),
    wait: (calls) => last(wait(calls)),
    end: (ended) => last(end(ended)),
    save,
    restore,
  }
}

const DONE = formatEvent({ data: '[DONE]' })

interface Open {
  kind: 'text' | 'reasoning'
  part_id: number
  id: string
}

/** Writes an answer as frames, which are a function of its rows alone. What is open is closed before anything else begins. */
export function createUiWriter(message: Written, { is_old, is_continued, urlOf }: UiOptions) {
  /** The text or the reasoning that is open, by its id in the stream. */
  let open: Open | undefined
  let isEmpty = true

  function close(): UiFrame[] {
    if (!open) return []
    const { kind, id } = open
    open = undefined
    return [{ type: `${kind}-end` as const, id }]
  }

  /** A piece of a text. One that goes on behind something else is a new text. */
  function say(kind: 'text' | 'reasoning', { part_id, idx, text }: { part_id: number; idx: number; text: string }) {
    if (text === '') return []
    const isOpen = open?.kind === kind && open.part_id === part_id
    const before: UiFrame[] = isOpen ? [] : close()
    if (!isOpen) {
      open = { kind, part_id, id: String(idx) }
      before.push({ type: `${kind}-start` as const, id: open.id })
    }
    return [...before, { type: `${kind}-delta`, id: open!.id, delta: text } as const]
  }

  function row(step: RowStep): UiFrame[] {
    isEmpty = false
    const { idx } = step
    if (step.type === 'text') return say('text', step)
    const { change, part } = step
    switch (part.type) {
      case 'reasoning':
        return say('reasoning', { part_id: part.id, idx, text: change.delta ?? change.text ?? '' })
      case 'tool':
        return [...close(), ...toolFrames(part, step.before as CallPart | undefined, is_old)]
      case 'source':
        return [...close(), sourceFrame(part)]
      case 'file':
        return [...close(), { type: 'file', url: urlOf(part.attachment_id), mediaType: part.media_type }]
      case 'data':
        return [...close(), dataFrame(part)]
      case 'step':
        return [...close(), { type: 'finish-step' }, { type: 'start-step' }]
      default:
        return []
    }
  }

  return {
    begin(): UiFrame[] {
      const { id: message_id, root_id, conversation_id, variant_of } = message
      const messageMetadata = { message_id, root_id, conversation_id, ...(variant_of !== undefined && { variant_of }) }
      const start: UiFrame = { type: 'start', messageId: message_id, messageMetadata }
      return is_continued ? [start] : [start, { type: 'start-step' }]
    },
    row,
    save: () => ({ open, isEmpty }),
    restore(saved: unknown): void {
      const before = saved as { open: Open | undefined; isEmpty: boolean }
      open = before.open
      isEmpty = before.isEmpty
    },
    /** @param calls those that wait */
    wait(calls: readonly CallPart[]): UiFrame[] {
      // Nothing was decided: the client asks again.
      const asked = isEmpty ? calls.flatMap((call) => waitingFrames(call, is_old)) : []
      const messageMetadata = { status: 'waiting' as const }
      return [...close(), ...asked, { type: 'finish', finishReason: 'tool-calls', messageMetadata }]
    },
    end({ status, finish_reason, failure, usage }: Written): UiFrame[] {
      if (status === 'cancelled') return [...close(), { type: 'abort' }]
      if (status !== 'complete') return [...close(), { type: 'error', errorText: failureText(failure) }]
      const messageMetadata = { status, ...(finish_reason && { finish_reason }), ...(usage && { usage }) }
      const finishReason = FINISH_REASONS[finish_reason ?? ''] ?? 'other'
      return [...close(), { type: 'finish-step' }, { type: 'finish', finishReason, messageMetadata }]
    },
  }
}

/** Clients fail for a reason that they do not know. */
const FINISH_REASONS: Record<string, 'stop' | 'length' | 'content-filter' | 'tool-calls'> = {
  stop: 'stop',
  length: 'length',
  content_filter: 'content-filter',
  tool_calls: 'tool-calls',
}

type PartOf<Type extends string> = Extract<Extract<RowStep, { type: 'part' }>['part'], { type: Type }>

function sourceFrame({ id, url, media_type, title, filename }: PartOf<'source'>): UiFrame {
  const sourceId = String(id)
  if (url !== undefined) return { type: 'source-url', sourceId, url, ...(title !== undefined && { title }) }
  return {
    type: 'source-document',
    sourceId,
    mediaType: media_type ?? 'application/octet-stream',
    title: title ?? filename ?? '',
    ...(filename !== undefined && { filename }),
  }
}

function dataFrame({ name, key, data = null }: PartOf<'data'>): UiFrame {
  return { type: `data-${name}`, ...(key !== undefined && { id: key }), data }
}

/** In these clients it means that the client does not run the call. */
const RUN_HERE = { dynamic: true, providerExecuted: true } as const

function toolFrames(call: CallPart, before: CallPart | undefined, isOld: boolean): UiFrame[] {
  const begun = [
    ...(before ? [] : startFrames(call)),
    ...(hasInput(call) && !hasInput(before) ? inputFrames(call) : []),
  ]
  if (call.state === before?.state) return begun
  const decided = before?.state === 'waiting' ? decidedFrames(call) : []
  return [...begun, ...decided, ...stateFrames(call, isOld)]
}

const startFrames = (call: CallPart): UiFrame[] => [{ type: 'tool-input-start', ...headOf(call) }]

const inputFrames = ({ input = {}, ...call }: CallPart): UiFrame[] => [
  { type: 'tool-input-available', ...headOf(call), input },
]

const headOf = ({ call_id: toolCallId, name: toolName, title }: CallPart) => ({
  ...{ toolCallId, toolName },
  ...(title !== undefined && { title }),
  ...RUN_HERE,
})

function stateFrames(call: CallPart, isOld: boolean): UiFrame[] {
  const { call_id: toolCallId, state, output = null } = call
  if (state === 'waiting') return waitingFrames(call, isOld)
  if (state === 'done') return [{ type: 'tool-output-available', toolCallId, output, ...RUN_HERE }]
  if (!isFailedState(state)) return []
  if (state === 'denied' && !isOld) return [{ type: 'tool-output-denied', toolCallId }]
  return [{ type: 'tool-output-error', toolCallId, errorText: callFailureText(call, state), ...RUN_HERE }]
}

function waitingFrames(call: CallPart, isOld: boolean): UiFrame[] {
  const { call_id } = call
  const request: UiFrame = { type: 'tool-approval-request', approvalId: call_id, toolCallId: call_id }
  return [...(isOld ? [] : [request]), approvalFrame(call, 'waiting')]
}

function decidedFrames(call: CallPart): UiFrame[] {
  const { state } = call
  const isDecided = state === 'approved' || state === 'denied' || state === 'expired' || state === 'cancelled'
  return isDecided ? [approvalFrame(call, state)] : []
}

function approvalFrame(
  { call_id, approval }: CallPart,
  state: 'waiting' | 'approved' | 'denied' | 'expired' | 'cancelled',
) {
  const expires = approval && { expires_at: approval.expires_at }
  return { type: 'data-approval', id: call_id, data: { call_id, state, ...expires } } satisfies UiFrame
}
