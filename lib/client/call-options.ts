import type { NamesOf } from '../core/known-names.ts'

/** The options of a call besides its input. */
export interface CallOptions {
  /** Sent with the call, such as `Idempotency-Key`. */
  headers?: Record<string, string>
  /** Aborts the call. */
  signal?: AbortSignal
}

export const CALL_OPTIONS: NamesOf<CallOptions> = { headers: 0, signal: 0 }
