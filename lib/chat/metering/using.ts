import { DEFAULT_KEY } from '../../config/assistants.ts'
import type { Queries } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'
import type { Usage } from '../answers/schema.ts'
import type { UsedTokens } from './rules.ts'
import { addStep, NOTHING_SPENT, needsEstimate, type Spent } from './rules-spent.ts'
import { findContextBytes, setUsage } from './store.ts'

/** An answer that ends. */
interface Ending {
  created_at: Micros
  posted_by: string | null
  assistant: string | null
  bytes: number
  usage: Usage | undefined
  /** What earlier steps have used. */
  before?: Spent
  /** Whether a step after those has begun. */
  hasBegun?: boolean
}

/** What an answer that ends has used; the event of its end has it, which stores it. */
export async function usedBy(tx: Queries, answer: Pick<UsedTokens, 'message_id' | 'conversation_id'>, ending: Ending) {
  const { created_at, posted_by, assistant, usage, hasBegun, before = NOTHING_SPENT } = ending
  const isCounting = before.steps === 0 || usage !== undefined || hasBegun
  const prompt = isCounting && needsEstimate(usage) ? await findContextBytes(tx, answer.message_id) : 0
  const {
    bytes: _,
    usage: counted,
    ...tokens
  } = isCounting ? addStep(before, { usage, bytes: ending.bytes, prompt }) : before
  const { message_id, conversation_id } = answer
  if (before.steps > 0 && counted) await setUsage(tx, message_id, counted)
  const used: UsedTokens = {
    ...{ message_id, conversation_id, user_id: posted_by, kind: 'answer', at: created_at },
    assistant: assistant ?? DEFAULT_KEY,
    ...tokens,
  }
  return used
}
