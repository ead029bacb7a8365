import { toActor } from '../../accounts/users/rules.ts'
import { findAskerRow } from '../../chat/answers/store-asker.ts'
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
  const row = user_id === null ? undefined : await findAskerRow(db, conversation_id, user_id)
  if (!row || row.disabled_at !== null || row.is_abandoned === 1) return undefined
  const { id, username, display_name, system_name, subject } = row
  const actor: Actor = {
    ...toActor(row),
    ...(system_name !== null && { system: system_name }),
    ...(subject !== null && { subject }),
  }
  // A part of the host participates in no conversation.
  const isThere = system_name !== null || row.participates === 1
  if (!isThere || !mayWrite(access, actor.roles)) return undefined
  return {
    actor,
    user: { id, username, ...(display_name && { display_name }), ...(subject !== null && { subject }) },
  }
}
