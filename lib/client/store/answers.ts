import type { Message } from '../../api/messages.ts'
import { isUnderWay } from '../../core/message-status.ts'
import { type AnswerChunk, withChunks } from './chunks.ts'
import type { StoreClient } from './types.ts'

/** How many chunks of an answer are read at once. */
const CHUNKS = 1_000

/** The messages with the texts and parts so far of answers in progress, and the chunks of these. */
export async function withText<Each extends Message>(client: StoreClient, messages: readonly Each[]) {
  const chunks = new Map<string, readonly AnswerChunk[]>()
  const complete = messages.map(async (message) => {
    if (!isUnderWay(message) || message.deleted_at) return message
    const read = await readChunks(client, message.id)
    chunks.set(message.id, read)
    return withChunks(message, read)
  })
  return { messages: await Promise.all(complete), chunks }
}

async function readChunks(client: StoreClient, message_id: string): Promise<AnswerChunk[]> {
  const chunks: AnswerChunk[] = []
  for (;;) {
    const page = await client.answers.listChunks(message_id, { from: chunks.length, limit: CHUNKS })
    for (const { idx, content, part } of page) chunks[idx] = part ?? content
    if (page.length === 0) return chunks
  }
}
