/** After how many looks in a row without progress a client has stalled. */
export const LOOKS = 6

/** What is known of a client that is to read: its progress at the last look, and the number of looks without any. */
export interface Looked {
  state: string | undefined
  looks: number
}

/**
 * Notes the progress of a client.
 *
 * @param state `undefined` if nothing waits for the client
 * @returns whether the client has read nothing for too long
 */
export function hasStalled(looked: Looked, state: string | undefined): boolean {
  // Looks, not time: while the process was busy, no client could make progress.
  looked.looks = state !== undefined && state === looked.state ? looked.looks + 1 : 0
  looked.state = state
  return looked.looks >= LOOKS
}
