import type { StorageUsage, UsageKind } from './schema.ts'

/** What a row of the database adds to the sums of a user and of a conversation. */
export interface Piece extends Partial<Omit<StorageUsage, 'key'>> {
  user_id: string | null
  conversation_id: string | null
}

/** What is added to the sums of a user or a conversation. */
export interface Sum extends StorageUsage {
  kind: UsageKind
}

/** Adds up the pieces of each user and each conversation. */
export function addUp(pieces: readonly Piece[]): Sum[] {
  const sums = new Map<string, Sum>()
  for (const { user_id, conversation_id, ...amounts } of pieces)
    for (const [kind, key] of [['user', user_id] as const, ['conversation', conversation_id] as const]) {
      if (key === null) continue
      const name = `${kind} ${key}`
      const sum = sums.get(name) ?? { kind, key, files: 0, bytes: 0, released_bytes: 0, message_bytes: 0 }
      for (const amount of Object.keys(amounts) as (keyof typeof amounts)[]) sum[amount] += amounts[amount] ?? 0
      sums.set(name, sum)
    }
  return [...sums.values()]
}

/** Whether sums are older than `age`; those of a clock that was ahead are, too. */
export function isOlder(asOf: number, now: number, age: number): boolean {
  return Math.abs(now - asOf) > age
}

/** A place in the list of a round. */
export interface UsagePlace {
  n: number
  total: number
  key: string
}

/** The cursor after a row of a list. */
export function toCursor(by: UsageKind, { n, total, key }: UsagePlace): string {
  return [by, n, total, key].join('_')
}

/** The place of a cursor of the list; `undefined` for any other text. */
export function fromCursor(by: UsageKind, cursor: string): UsagePlace | undefined {
  const [, of, n, total, key] = /^(\w+)_(\d{1,15})_(\d{1,16})_([0-9a-f-]{36})$/.exec(cursor) ?? []
  if (of !== by || Number(total) > Number.MAX_SAFE_INTEGER) return undefined
  return { n: Number(n), total: Number(total), key: key! }
}
