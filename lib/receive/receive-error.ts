/**
 * Why the kit refuses a call, or cannot go on: `signature`, `timestamp` and `malformed` are faults of a call;
 * `reset_required` means that events are lost and there is no `reset`; `position_moved` that another process has moved
 * the position; `not_atomic` that an effect does not fit into the transaction.
 */
export type ReceiveErrorCode =
  | 'signature'
  | 'timestamp'
  | 'malformed'
  | 'reset_required'
  | 'position_moved'
  | 'not_atomic'

/** A failure of the receiver kit, by its code. */
export class ReceiveError extends Error {
  readonly code: ReceiveErrorCode
  constructor(code: ReceiveErrorCode, message: string) {
    super(message)
    this.name = 'ReceiveError'
    this.code = code
  }
}
