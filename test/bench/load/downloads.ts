import { Agent, type IncomingMessage, request } from 'node:http'
import type { Service } from '../servers/service.ts'

/** How often a reader takes its share. */
const TICK_MS = 50

/** Readers of one file, each at the same rate. */
export interface Readers {
  /** The bytes that all of them have read so far. */
  bytes(): number
  /** Breaks the downloads off. */
  stop(): void
}

/**
 * Begins to read a file many times at once, each at `bytes_per_second`.
 *
 * @throws Error for any other response than 200
 */
export async function startReaders(
  { port, headers }: Service,
  { id, count, bytes_per_second }: { id: string; count: number; bytes_per_second: number },
): Promise<Readers> {
  const agent = new Agent({ maxSockets: count })
  const open = () =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const path = `/api/attachments/${id}/content`
      request({ port, path, agent, headers }, resolve).on('error', reject).end()
    })
  const responses = await Promise.all(Array.from({ length: count }, open))
  const refused = responses.find(({ statusCode }) => statusCode !== 200)
  if (refused) throw new Error(`a download was answered ${refused.statusCode}`)
  let bytes = 0
  const began = performance.now()
  const readers = responses.map((response) => {
    let own = 0
    const read = () => {
      const due = ((performance.now() - began) / 1000) * bytes_per_second
      while (own < due) {
        const chunk: Buffer | null = response.read()
        if (chunk === null) return
        own += chunk.length
        bytes += chunk.length
      }
    }
    response.on('readable', read).on('error', () => {})
    return read
  })
  const timer = setInterval(() => {
    for (const read of readers) read()
  }, TICK_MS)
  return {
    bytes: () => bytes,
    stop() {
      clearInterval(timer)
      agent.destroy()
    },
  }
}
