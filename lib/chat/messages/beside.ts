import type { Tx } from '../../live/transaction/transaction.ts'
import type { MessageRow } from './store.ts'

/** What a protocol does in the transaction of a question. */
export interface PostBeside {
  /** What identifies the question with its key, instead of its place and its text. */
  identity: readonly string[]
  /** Whether the question is the first message of a conversation that `before` makes. */
  is_founding: boolean
  /** Called once the keys of the author are locked: of the author, one question at a time. @throws ChatError to refuse it */
  before(tx: Tx): Promise<void>
  /** Called with the stored question. */
  after(tx: Tx, row: MessageRow): Promise<void>
}
