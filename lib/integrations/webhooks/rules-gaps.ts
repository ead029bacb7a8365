/** What a `webhook.gap` says: some events before a place were not sent. */
export interface Gap {
  /** The position from which its webhook goes on. */
  cursor: string
  /** `age`: the log has them no more; `history`: of another database; `since`: from before where it begins; `dead`: given up. */
  reason: 'age' | 'history' | 'since' | 'dead'
  /** The position, or the instant at which its webhook was to begin, after which events are missing, where it is known. */
  from?: string
  /** The position up to which they are missing. */
  to?: string
  /** The event, if it is one. */
  event_id?: string
  conversation_id?: string
}

/** How many gaps wait to be sent: of more, the latest one stands for several events. */
const MAX_GAPS = 32

/** The gaps of a webhook that its receiver was not told of, the first one first. */
export function parseGaps(text: string | null): Gap[] {
  return text === null ? [] : (JSON.parse(text) as Gap[])
}

/** Gaps as they are stored. */
export function toGaps(gaps: readonly Gap[]): string | null {
  return gaps.length === 0 ? null : JSON.stringify(gaps)
}

/** The stored gaps with one more. */
export function addGap(text: string | null, gap: Gap): string | null {
  const gaps = parseGaps(text)
  if (gaps.length < MAX_GAPS) return toGaps([...gaps, gap])
  const { cursor, reason } = gap
  return toGaps([...gaps.slice(0, MAX_GAPS - 1), { cursor, reason }])
}

/** The stored gaps without the first one. */
export function withoutFirstGap(text: string | null): string | null {
  return toGaps(parseGaps(text).slice(1))
}
