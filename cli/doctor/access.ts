import { listRolesInUse } from '../../lib/accounts/users/store-roles.ts'
import { listParticipantRoles } from '../../lib/chat/memberships/store-roles.ts'
import { createAccess } from '../../lib/config/access.ts'
import type { Config } from '../../lib/config/parse.ts'
import { listUnknownContacts } from '../../lib/guests/store.ts'
import type { Queries } from '../../lib/storage/database.ts'
import { type Finding, warning } from './finding.ts'
import { some } from './nodes.ts'

/** The findings about roles that are in use and not configured, and about contacts of guests that no active person is. */
export async function checkAccess(config: Config, db: Queries): Promise<Finding[]> {
  return [...(await checkRoles(config, db)), ...(await checkContacts(config, db))]
}

async function checkRoles(config: Config, db: Queries): Promise<Finding[]> {
  const { service, participant } = createAccess(config)
  const lost = [
    ...(await listRolesInUse(db)).filter((role) => !service.has(role)),
    ...(await listParticipantRoles(db))
      .filter((role) => !participant.has(role))
      .map((role) => `${role} (participants)`),
  ]
  if (lost.length === 0) return []
  return [
    warning(
      'access.unknown_roles',
      `Roles are in use that are not configured, and give no rights: ${some(lost)}.`,
      'Configure them again under access.roles or access.participant_roles, or give the users others.',
    ),
  ]
}

async function checkContacts({ guests }: Config, db: Queries): Promise<Finding[]> {
  const unknown = guests.enabled ? await listUnknownContacts(db, guests.contacts) : []
  if (unknown.length === 0) return []
  return [
    warning(
      'guests.unknown_contacts',
      `No active person has these usernames of guests.contacts: ${unknown.join(', ')}. New guests get the other contacts only.`,
      'Correct guests.contacts, or create these users.',
    ),
  ]
}
