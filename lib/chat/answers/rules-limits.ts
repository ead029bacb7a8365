/** What an answer has beside text and reasoning. */
export interface UsedParts {
  parts: number
  rows: number
  /** The size of all rows. */
  bytes: number
}

/** What an answer may have beside text and reasoning. */
export const MAX_USED: UsedParts = { parts: 256, rows: 1_000, bytes: 1024 * 1024 }

/** Whether an answer has more beside text and reasoning than it may. */
export function isBeyondLimits({ parts, rows, bytes }: UsedParts): boolean {
  return parts > MAX_USED.parts || rows > MAX_USED.rows || bytes > MAX_USED.bytes
}
