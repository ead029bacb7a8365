import type { Assistants } from '../../context.ts'
import { ChatError } from '../../core/errors.ts'
import type { ConversationRow } from '../memberships/store-conversations.ts'
import type { Rename } from './schema.ts'

/** Refuses keys that no assistant has. @throws ChatError `validation_failed` */
export function assertAssistants(
  { find }: Assistants,
  { policy, assistant }: Pick<Rename, 'policy' | 'assistant'>,
): void {
  const allowed = Array.isArray(policy?.assistants) ? policy.assistants : []
  const named = [
    ...allowed.map((key, n) => ({ path: `policy.assistants[${n}]`, key })),
    ...(assistant?.key === undefined ? [] : [{ path: 'assistant.key', key: assistant.key }]),
  ]
  const errors = named.flatMap(({ path, key }) =>
    find(key) ? [] : [{ path, message: 'must be the key of an assistant of the service' }],
  )
  if (errors.length > 0) throw new ChatError('validation_failed', { errors })
}

/** The assistant of a conversation, as it is stored. */
export function toAssistantColumns(
  assistant: Rename['assistant'],
): Pick<ConversationRow, 'assistant' | 'assistant_prompt'> {
  if (assistant === undefined) return {}
  return { assistant: assistant?.key ?? null, assistant_prompt: assistant?.prompt || null }
}

/** What the audit log has of another assistant: its key, and whether the prompt is another one, which it does not quote. */
export function toAuditDetail(
  before: Pick<ConversationRow, 'assistant' | 'assistant_prompt'>,
  change: Rename['assistant'],
): { assistant?: string; assistant_prompt?: string } {
  const { assistant, assistant_prompt } = toAssistantColumns(change)
  return {
    ...(assistant !== (before.assistant ?? null) && { assistant: assistant ?? 'unset' }),
    ...(assistant_prompt !== (before.assistant_prompt ?? null) && {
      assistant_prompt: assistant_prompt === null ? 'unset' : 'changed',
    }),
  }
}
