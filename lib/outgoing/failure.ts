/**
 * Why a call to an address that was named by others failed.
 *
 * - `address_forbidden`: the URL, or each address of its host, is not one to call
 * - `dns`: the name has no address
 * - `connect`: no connection, or it ended before a byte of the answer
 * - `tls`: no encryption, or the certificate is not for this name
 * - `timeout`: the deadline passed
 * - `status`: an answer with a status that the caller does not take; redirects are such
 * - `protocol`: what arrived is no answer of HTTP/1.1, or it is too large, or it broke off
 */
export type OutgoingReason = 'address_forbidden' | 'dns' | 'connect' | 'tls' | 'timeout' | 'status' | 'protocol'

/** The status and the headers of an answer, with names in lower case. */
export interface AnswerHead {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
}

/** A call that failed. It contains nothing of what was sent, and of the answer its head only. */
export class OutgoingFailure extends Error {
  readonly reason: OutgoingReason
  /** The answer, for `status`. */
  readonly answer: AnswerHead | undefined

  constructor(reason: OutgoingReason, { answer, cause }: { answer?: AnswerHead; cause?: unknown } = {}) {
    super(`an outgoing call failed: ${reason}`, { cause })
    this.name = 'OutgoingFailure'
    this.reason = reason
    this.answer = answer
  }
}

/** @returns `error`, if it is a failure already, or one with this reason */
export function toFailure(reason: OutgoingReason, error: unknown): OutgoingFailure {
  return error instanceof OutgoingFailure ? error : new OutgoingFailure(reason, { cause: error })
}
