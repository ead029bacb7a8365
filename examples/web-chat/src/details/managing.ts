import type { Capabilities } from 'chat-server/client'
import type { OpenConversation } from '../conversations/use-conversation.ts'

/**
 * Whether a participant may change another one's role, remove the other one, or give that role: with the right to manage, and every
 * right of that role.
 *
 * @param managedBy the role of the participant, if it has the right to manage
 */
export function mayGive({ access }: Capabilities, managedBy: string | undefined, role: string): boolean {
  return managedBy !== undefined && rightsOf(access, role).every((right) => rightsOf(access, managedBy).includes(right))
}

/** Whether the user manages a conversation, also while it is frozen: then little can be done in it, but hooks can be deleted. */
export function manages({ access }: Capabilities, { can, role, frozen_at }: OpenConversation): boolean {
  return can.includes('manage') || (frozen_at !== undefined && rightsOf(access, role).includes('manage'))
}

function rightsOf({ participant_roles }: Capabilities['access'], role: string | undefined) {
  return participant_roles.find(({ name }) => name === role)?.rights ?? []
}
