import { toActor } from '../../accounts/users/rules.ts'
import { findUser } from '../../accounts/users/store.ts'
import { isActive } from '../../accounts/users/store-bots.ts'
import { findSubjects } from '../../accounts/users/store-subjects.ts'
import { findSystemName } from '../../accounts/users/store-system.ts'
import { findMembership } from '../../chat/memberships/store.ts'
import type { Context } from '../../context.ts'
import { mayWrite } from '../../core/access.ts'
import type { Actor } from '../../core/actor.ts'
import type { Queries } from '../../storage/database.ts'
import type { ToolUser } from '../tools/definition.ts'

/** The user who asked, with the rights of this moment. */
export interface Asker {
  actor: Actor
  user: ToolUser
}

/** @returns `undefined` for a user who participates no more, is disabled or erased, or may only read */
export async function findAsker(
  { access }: Pick<Context, 'access'>,
  db: Queries,
  { conversation_id, user_id }: { conversation_id: string; user_id: string | null },
): Promise<Asker | undefined> {
  const row = user_id === null ? undefined : await findUser(db, user_id)
  if (!row || !(await isActive(db, row))) return undefined
  const system = await findSystemName(db, row.id)
  const actor: Actor = { ...toActor(row), ...(system !== undefined && { system }) }
  // A part of the host participates in no conversation.
  const isThere = system !== undefined || (await findMembership(db, conversation_id, row.id)) !== undefined
  if (!isThere || !mayWrite(access, actor.roles)) return undefined
  const subject = (await findSubjects(db, [row.id])).get(row.id)
  const { id, username, display_name } = row
  return {
    actor: subject === undefined ? actor : { ...actor, subject },
    user: { id, username, ...(display_name && { display_name }), ...(subject !== undefined && { subject }) },
  }
}
