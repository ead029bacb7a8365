import type { Usage } from '../../chat/answers/schema.ts'
import type { Written } from '../../chat/answers/service-rows.ts'
import { isUnderWay } from '../../core/message-status.ts'
import { SECOND } from '../../core/units.ts'
import { failureText } from '../../protocols/rows/rules-texts.ts'
import { toOpenAiId } from './rules-ids.ts'
import type { OutputItem, ResponseObject, ResponseStatus, ResponseUsage } from './schema.ts'

/** The id of the assistant, where an answer has none: it stands in. */
export const DEFAULT_MODEL = 'assistant'

/** An answer with what tells where it is in OpenAI's API. */
export interface Answered {
  message: Written
  /** The number of the segment, from 1. */
  segment: number
  /** The name of the chat that clients call a conversation, if it has one. */
  conversation: string | undefined
}

/** How far a segment has come: its answer has ended, or waits, or it goes on. */
export type Progress = 'under_way' | 'waiting' | 'ended'

/** The id of a segment of an answer. */
export const toResponseId = (messageId: string, segment: number) =>
  toOpenAiId('response', messageId, segment === 1 ? 0 : segment)

/** A response with the output so far. */
export function toResponse(
  { message, segment, conversation }: Answered,
  progress: Progress,
  output: OutputItem[],
): ResponseObject {
  const { id, parent_id, parent_role, created_at, failure, usage, metadata = {} } = message
  const status = statusOf(message, progress)
  return {
    id: toResponseId(id, segment),
    object: 'response',
    created_at: Math.floor(created_at / SECOND),
    status,
    // Each answer goes on without a client, is stopped by its id, and read on: SDKs offer both only where this is set.
    background: true,
    error: status === 'failed' ? { code: 'server_error', message: failureText(failure) } : null,
    incomplete_details:
      status === 'incomplete'
        ? { reason: message.finish_reason === 'length' ? 'max_output_tokens' : 'content_filter' }
        : null,
    instructions: null,
    max_output_tokens: null,
    model: message.assistant ?? DEFAULT_MODEL,
    output,
    parallel_tool_calls: true,
    previous_response_id: previousOf({ id, parent_id, parent_role, segment }),
    conversation: conversation === undefined ? null : { id: conversation },
    metadata,
    store: true,
    temperature: null,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    truncation: 'disabled',
    usage: progress === 'ended' && usage ? toUsage(usage) : null,
  }
}

/** The response before: the segment before, or the answer that the question replies to. */
function previousOf({
  id,
  parent_id,
  parent_role,
  segment,
}: Pick<Written, 'id' | 'parent_id' | 'parent_role'> & { segment: number }) {
  if (segment > 1) return toResponseId(id, segment - 1)
  return parent_role === 'assistant' ? toResponseId(parent_id!, 1) : null
}

function statusOf({ status, finish_reason }: Written, progress: Progress): ResponseStatus {
  if (progress === 'waiting') return 'completed'
  if (progress === 'under_way' || isUnderWay({ status })) return 'in_progress'
  if (status === 'cancelled') return 'cancelled'
  if (status === 'failed' || status === 'interrupted') return 'failed'
  return finish_reason === 'length' || finish_reason === 'content_filter' ? 'incomplete' : 'completed'
}

/** The last event of a response with this status. */
export function lastEventOf(status: ResponseStatus) {
  if (status === 'failed') return 'response.failed' as const
  return status === 'completed' ? ('response.completed' as const) : ('response.incomplete' as const)
}

function toUsage({
  prompt_tokens = 0,
  completion_tokens = 0,
  total_tokens,
  cached_tokens = 0,
  reasoning_tokens = 0,
}: Usage): ResponseUsage {
  return {
    input_tokens: prompt_tokens,
    input_tokens_details: { cached_tokens },
    output_tokens: completion_tokens,
    output_tokens_details: { reasoning_tokens },
    total_tokens: total_tokens ?? prompt_tokens + completion_tokens,
  }
}
