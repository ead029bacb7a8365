import { useEffect, useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'

/** How many times are kept. */
const MAX_KEPT = 500

/** By message and part, how long the assistant thought: that never changes. */
const kept = new Map<string, number>()

/**
 * How long the assistant thought, in seconds: from the chunk that began it to the one after it. Read once, when it is wanted;
 * `undefined` until then, and where nothing followed.
 */
export function useThoughtTime(
  message_id: string,
  { start, end }: { start: number; end: number | undefined },
  isWanted: boolean,
): number | undefined {
  const { client } = useApp()
  const key = `${message_id} ${start}`
  const [, render] = useState(0)
  useEffect(() => {
    if (!isWanted || end === undefined || kept.has(key)) return
    const control = new AbortController()
    const timeOf = async (from: number) => {
      const [chunk] = await client.answers.listChunks(message_id, { from, limit: 1 }, { signal: control.signal })
      return chunk?.idx === from ? Date.parse(chunk.created_at) : undefined
    }
    Promise.all([timeOf(start), timeOf(end)]).then(
      ([from, to]) => {
        if (from === undefined || to === undefined) return
        const [oldest] = kept.keys()
        if (kept.size >= MAX_KEPT) kept.delete(oldest!)
        kept.set(key, Math.max(0, to - from) / 1_000)
        render((turns) => turns + 1)
      },
      // Without it, the line only says that the assistant thought.
      () => {},
    )
    return () => control.abort()
  }, [key, end, isWanted])
  return kept.get(key)
}
