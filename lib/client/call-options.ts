import type { NamesOf } from '../core/known-names.ts'

/** The options of a call besides its input. */
export interface CallOptions {
  /** Sent with the call, such as `Idempotency-Key`. */
  headers?: Record<string, string>
  /** Aborts the call. */
  signal?: AbortSignal
  /** Whether a browser completes the call although the page is closed meanwhile, as `keepalive` of `fetch`. */
  keepalive?: boolean
}

export const CALL_OPTIONS: NamesOf<CallOptions> = { headers: 0, signal: 0, keepalive: 0 }
