import { DEFAULT_KEY } from '../../config/assistants.ts'
import type { Queries } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'
import type { Usage } from '../answers/schema.ts'
import { countTokens, isCounted, type UsedTokens } from './rules.ts'
import { findContextBytes } from './store.ts'

/** An answer that ends. */
interface Ending {
  created_at: Micros
  posted_by: string | null
  assistant: string | null
  bytes: number
  usage: Usage | undefined
}

/** What an answer that ends has used; the event of its end has it, which stores it. */
export async function usedBy(
  tx: Queries,
  { message_id, conversation_id }: { message_id: string; conversation_id: string },
  { created_at, posted_by, assistant, bytes, usage }: Ending,
): Promise<UsedTokens> {
  const prompt = isCounted(usage) ? 0 : await findContextBytes(tx, message_id)
  return {
    ...{ message_id, conversation_id, user_id: posted_by, kind: 'answer', at: created_at, steps: 1 },
    assistant: assistant ?? DEFAULT_KEY,
    ...countTokens(usage, { prompt, answer: bytes }),
  }
}
