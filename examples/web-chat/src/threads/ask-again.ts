import type { ChatStore, StoreMessage } from 'chat-server/client/store'
import { goTo } from '../app/route.ts'

/**
 * Asks the question of an answer again: for a variant of it, under the message that is above it. One that begins a thread has none.
 *
 * @param isInThread whether only its thread is shown, which the new answer is not in
 * @param prompt another question in the place of that of the answer
 */
export async function askAgain(
  store: ChatStore,
  message: StoreMessage,
  isInThread: boolean,
  prompt = message.prompt ?? '',
): Promise<void> {
  const { id, parent_id, root_id, conversation_id } = message
  const place = parent_id === undefined ? {} : { parent_id, root_id }
  const posted = await store.post({ conversation_id, ...place, content: prompt, role: 'assistant', variant_of: id })
  if (posted && parent_id === undefined && isInThread)
    goTo({ name: 'thread', conversation_id, root_id: posted.root_id })
}
