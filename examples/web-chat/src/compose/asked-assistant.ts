import type { ConversationSummary } from 'chat-server/client'
import type { StoreMessage } from 'chat-server/client/store'
import type { OfferedAssistant } from '../app/offered-assistant.ts'

/** Whom a question goes to: the assistant that was chosen, the one that answers there, or the default. `undefined` where none may be asked. */
export function askedAssistant(
  offered: readonly OfferedAssistant[],
  ...wanted: (string | undefined)[]
): OfferedAssistant | undefined {
  const keys = wanted.filter((key) => key !== undefined)
  const found = keys.flatMap((wish) => offered.find(({ key }) => key === wish) ?? [])
  return found[0] ?? offered.find((each) => each.default) ?? offered[0]
}

/** The key of the assistant that answers at a place if nothing else is chosen: the one of the last answer, or of the conversation. */
export function usualAssistant(
  { assistant }: Pick<ConversationSummary, 'assistant'>,
  messages: readonly StoreMessage[] = [],
): string | undefined {
  return messages.findLast(({ role, deleted_at }) => role === 'assistant' && !deleted_at)?.assistant ?? assistant?.key
}
