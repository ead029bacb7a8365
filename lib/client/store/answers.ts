import type { Message } from '../../api/messages.ts'
import type { StoreClient } from './types.ts'

/** How many chunks of an answer are read at once. */
const CHUNKS = 1_000

/** The messages with the texts so far of answers in progress, and the chunks of these. */
export async function withText<Each extends Message>(client: StoreClient, messages: readonly Each[]) {
  const chunks = new Map<string, readonly string[]>()
  const complete = messages.map(async (message) => {
    if (message.status !== 'streaming' || message.deleted_at) return message
    const read = await readChunks(client, message.id)
    chunks.set(message.id, read)
    return { ...message, content: read.join('') }
  })
  return { messages: await Promise.all(complete), chunks }
}

async function readChunks(client: StoreClient, message_id: string): Promise<string[]> {
  const contents: string[] = []
  for (;;) {
    const page = await client.answers.listChunks(message_id, { from: contents.length, limit: CHUNKS })
    for (const { idx, content } of page) contents[idx] = content
    if (page.length === 0) return contents
  }
}
