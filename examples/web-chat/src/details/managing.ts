import type { Capabilities } from 'chat-server/client'

/**
 * Whether a participant may change another one's role, remove the other one, or give that role: with the right to manage, and every
 * right of that role.
 *
 * @param managedBy the role of the participant, if it has the right to manage
 */
export function mayGive({ access }: Capabilities, managedBy: string | undefined, role: string): boolean {
  const rightsOf = (name: string) => access.participant_roles.find((each) => each.name === name)?.rights ?? []
  return managedBy !== undefined && rightsOf(role).every((right) => rightsOf(managedBy).includes(right))
}
