import type { Part } from '../../chat/answers/schema-parts.ts'
import type { CallPart } from '../rows/rules.ts'
import { asText, callFailureText, isFailedState } from '../rows/rules-texts.ts'
import type { AgUiCustom } from './schema-messages.ts'

/** The address of a file of the service. */
export type UrlOf = (attachmentId: string) => string

/** The id of a text of an answer, or of its reasoning, or of the result of a call: the first text has the id of the answer. */
export const toPartMessageId = (answerId: string, partId: number, isFirstText = false): string =>
  isFirstText ? answerId : `${answerId}:${partId}`

/** What the result of a call says, once it has ended. */
export function resultOf(call: CallPart): string | undefined {
  if (call.state === 'done') return asText(call.output ?? null)
  return isFailedState(call.state) ? callFailureText(call, call.state) : undefined
}

type CustomPart = Extract<Part, { type: 'source' | 'file' | 'data' }>

/** A part that is no message, by its name and its value. */
export function toCustom(part: CustomPart, urlOf: UrlOf): AgUiCustom {
  if (part.type === 'data') return { name: part.name, value: part.data ?? null }
  const { id: _, type, ...value } = part
  return { name: type, value: part.type === 'file' ? { ...value, url: urlOf(part.attachment_id) } : value }
}

/** Whether a part is no message. */
export const isCustom = (part: Part): part is CustomPart =>
  part.type === 'source' || part.type === 'file' || part.type === 'data'
