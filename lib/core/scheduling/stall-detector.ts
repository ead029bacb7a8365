/** After how many looks in a row without progress a client has stalled. */
export const CHECKS = 6

/** What is known of a client that is to read: its progress at the last look, and the number of looks without any. */
export interface StallState {
  state: string | undefined
  checks: number
}

/**
 * Notes the progress of a client.
 *
 * @param state `undefined` if nothing waits for the client
 * @returns whether the client has read nothing for too long
 */
export function hasStalled(stall: StallState, state: string | undefined): boolean {
  // Looks, not time: while the process was busy, no client could make progress.
  stall.checks = state !== undefined && state === stall.state ? stall.checks + 1 : 0
  stall.state = state
  return stall.checks >= CHECKS
}
