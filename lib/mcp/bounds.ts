import type { Message } from '../chat/messages/schema.ts'

/** The maximum size of the text of a result, in bytes: models read all of it. */
export const MAX_RESULT_BYTES = 60 * 1024

/** What is left for a list, beside its cursor and position. */
export const MAX_LIST_BYTES = MAX_RESULT_BYTES - 4 * 1024

/** The maximum number of messages of a result. */
export const MAX_MESSAGES = 50

/** The size of a value as JSON, in bytes. */
export const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** The first of these items that fit, at least one. */
export function fitting<T>(items: readonly T[], most = MAX_LIST_BYTES): T[] {
  let room = most
  const end = items.findIndex((item, n) => {
    room -= sizeOf(item) + 1
    return room < 0 && n > 0
  })
  return end < 0 ? [...items] : items.slice(0, end)
}

/** A message of a result; `cut` is the number of bytes that are left out of it. */
export type BoundedMessage = Message & { cut?: number }

/** What a message can lose before its text. */
const EXTRAS = ['parts', 'metadata', 'attachments', 'reactions'] as const

/**
 * A message of at most this size, as JSON: without its parts and what hangs on it, and then with the beginning of its texts, as
 * far as that is necessary.
 */
export function bounded(message: Message, most: number): BoundedMessage {
  const size = sizeOf(message)
  if (size <= most) return message
  let rest: Message = message
  for (const name of EXTRAS) {
    if (sizeOf(rest) <= most) break
    const { [name]: _, ...others } = rest
    rest = others
  }
  const room = most - (sizeOf(rest) - sizeOf(rest.content) - sizeOf(rest.prompt ?? '')) - 100
  const prompt = rest.prompt === undefined ? undefined : beginning(rest.prompt, Math.floor(room / 4))
  const content = beginning(rest.content, room - sizeOf(prompt ?? ''))
  const shorter = { ...rest, content, ...(prompt !== undefined && { prompt }) }
  return { ...shorter, cut: size - sizeOf(shorter) }
}

/** The beginning of a text that takes at most `room` bytes: as JSON, or as `size` counts it. No character is split. */
export function beginning(text: string, room: number, size: (text: string) => number = sizeOf): string {
  let start = text
  for (let bytes = size(start); bytes > room && start !== ''; bytes = size(start)) {
    const length = Math.min(start.length - 1, Math.floor((start.length * Math.max(room, 0)) / bytes))
    start = start.slice(0, length).replace(/[\uD800-\uDBFF]$/, '')
  }
  return start
}
