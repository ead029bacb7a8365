import type { AssistantSettings } from '../../context.ts'
import type { ActorInConversation, Refusal } from '../../core/access.ts'
import { isOperator } from '../../core/actor.ts'
import type { AssistantInfo } from './schema.ts'

/** The assistants that the policy of a conversation lets its participants ask. */
export type AssistantsPolicy = 'all' | 'none' | string[]

/** The assistants that a stored policy allows; without a word about them, all. */
export function assistantsOf(policy: string | null | undefined): AssistantsPolicy {
  if (!policy?.includes('"assistants"')) return 'all'
  return (JSON.parse(policy) as { assistants?: AssistantsPolicy }).assistants ?? 'all'
}

/** Why an actor may not ask an assistant in a conversation, beside the right to ask any; `undefined` if it may. */
export function refusalToAsk(
  { key, who }: Pick<AssistantSettings, 'key' | 'who'>,
  { actor, policy }: Pick<ActorInConversation, 'actor' | 'policy'>,
): Refusal | undefined {
  if (actor.system !== undefined || isOperator(actor)) return undefined
  if (who.length > 0 && !actor.roles.some((role) => who.includes(role)))
    return { reason: 'role', right: 'ask_assistant' }
  const allowed = assistantsOf(policy)
  if (allowed === 'all' || (allowed !== 'none' && allowed.includes(key))) return undefined
  return { reason: 'policy', right: 'ask' }
}

/** An assistant as users see it. */
export function toInfo(
  { key, title, avatar_url, images, text_files, tools }: AssistantSettings,
  isDefault: boolean,
): AssistantInfo {
  return {
    key,
    title,
    ...(avatar_url !== undefined && { avatar_url }),
    ...(isDefault && { default: true }),
    tools: tools.map(({ name, title, fixedApproval }) => ({
      ...{ name, title },
      ...(fixedApproval && { approval: fixedApproval }),
    })),
    images,
    text_files,
  }
}
