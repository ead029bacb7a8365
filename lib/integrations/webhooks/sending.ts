import type { Context } from '../../context.ts'
import { monotonicMicros } from '../../core/time.ts'
import { SECOND } from '../../core/units.ts'
import { type AnswerHead, OutgoingFailure, type OutgoingReason } from '../../outgoing/failure.ts'
import { signCall } from './signing.ts'

/** How much of an answer is read where it counts: a challenge is shorter. */
const MAX_BODY = 4 * 1024

/** Where a webhook calls, and what it signs with. */
export interface Receiver {
  /** The id of the webhook. */
  id: string
  url: string
  /** Headers of its owner, names in lower case. */
  headers: Readonly<Record<string, string>>
  /** The present one first. */
  secrets: readonly string[]
}

/** One call of a receiver. */
export interface Sending {
  /** The id of the event. */
  id: string
  /** JSON. */
  body: string
  /** The position right after the event, of events of the log. */
  position?: string
  /** The id of this service, by which it recognises what it has sent itself. */
  origin: string
  timeout_ms: number
  /** Whether the body of the answer is returned. */
  reads_body?: boolean
}

/** What an attempt led to: 2xx, or else an error. */
export interface Attempted {
  /** The status of the answer, if there was one. */
  status?: number
  /** How long it took, in milliseconds. */
  ms: number
  error?: OutgoingReason
  /** `Retry-After`, as it came. */
  retry_after?: string
  /** The start of the body, if it was asked for. */
  body?: string
}

/** Calls a receiver once. It never rejects for anything that the receiver, its name or its network does. */
export async function send(
  { outgoing, now }: Pick<Context, 'outgoing' | 'now'>,
  receiver: Receiver,
  { id, body, position, origin, timeout_ms, reads_body = false }: Sending,
): Promise<Attempted> {
  const begun = monotonicMicros()
  const timestamp = Math.floor(now() / SECOND)
  const headers = {
    ...receiver.headers,
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signCall({ id, timestamp, body }, receiver.secrets),
    'x-chat-server-webhook': receiver.id,
    ...(position !== undefined && { 'x-chat-server-position': position }),
    'x-chat-server-origin': origin,
  }
  const reading = reads_body && { max_body: MAX_BODY }
  try {
    const answer = await outgoing.call(receiver.url, { method: 'POST', headers, body, timeout_ms, ...reading })
    return {
      status: answer.status,
      ms: answer.ms,
      ...(reads_body && { body: new TextDecoder().decode(answer.body) }),
    }
  } catch (error) {
    if (!(error instanceof OutgoingFailure)) throw error
    const ms = Math.round((monotonicMicros() - begun) / 1000)
    return { ms, error: error.reason, ...(error.answer && headOf(error.answer)) }
  }
}

function headOf({ status, headers }: AnswerHead): Pick<Attempted, 'status' | 'retry_after'> {
  const retry_after = headers['retry-after']
  return { status, ...(retry_after !== undefined && { retry_after }) }
}
