import { contextOf } from '../lib/core/context-of.ts'
import type { Chat } from '../lib/service.ts'
import { readDatabaseSize } from '../lib/storage/vacuum.ts'

/** What a command has freed: the disk has room again only for the first of the two. */
export interface Freed {
  disk_bytes: number
  /** SQLite: of the file, which keeps its size; new rows take it. */
  inside_bytes: number
}

/** Runs `work`, and measures what it frees inside the database file. */
export async function measureInside<T>(
  chat: Chat,
  work: () => Promise<T>,
): Promise<{ value: T; inside_bytes: number }> {
  const { db } = contextOf(chat)
  const free = async () => {
    const { bytes, used_bytes } = await readDatabaseSize(db)
    return bytes - used_bytes
  }
  const before = await free()
  const value = await work()
  return { value, inside_bytes: Math.max(0, (await free()) - before) }
}

export function describeFreed({ disk_bytes, inside_bytes }: Freed): string {
  const inside = inside_bytes > 0 ? ' (new messages use it; "chat-server vacuum" gives it to the disk)' : ''
  return `Freed: ${inMib(disk_bytes)} on the disk, ${inMib(inside_bytes)} inside the database file${inside}.`
}

function inMib(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`
}
