import type { Message } from './schema.ts'
import type { MessageRow } from './store.ts'

/** Adds the users that a message mentions, and the assistants that it asks. */
export function addMentions(
  message: Message,
  { mention_all, mentioned, asked }: Pick<MessageRow, 'mention_all' | 'mentioned' | 'asked'>,
): void {
  if (mention_all === null && asked === null) return
  const user_ids = mentioned ? mentioned.split(',') : []
  if (mention_all === 1) message.mentions = { user_ids, all: true }
  else if (user_ids.length > 0 || asked) message.mentions = { user_ids }
  if (asked) message.mentions!.assistants = asked.split(',')
}
