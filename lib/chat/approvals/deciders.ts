import { toActor } from '../../accounts/users/rules.ts'
import { findUser } from '../../accounts/users/store.ts'
import { isActive } from '../../accounts/users/store-bots.ts'
import type { ApprovalRule } from '../../config/approval-rule.ts'
import type { Context } from '../../context.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Queries } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'
import type { CallRow } from '../answers/store-calls.ts'
import { levelOf } from '../memberships/rules-settings.ts'
import { findMembership } from '../memberships/store.ts'
import { notifyDeciders } from '../notifications/deciders.ts'
import { type Decider, mayDeny } from './rules.ts'
import { type Candidate, listCandidates } from './store-deciders.ts'

/** How many users are told of a call, and how many are looked at for them. */
const MAX = { told: 50, looked_at: 100 }

/** What the choice of those who are told depends on. */
export type TellingContext = Pick<Context, 'access' | 'config'>

/** A participant as one who decides; `undefined` for one who is disabled, or no participant. */
export async function findDecider(db: Queries, conversationId: string, userId: string): Promise<Decider | undefined> {
  const user = await findUser(db, userId)
  const membership = await findMembership(db, conversationId, userId)
  if (!user || !membership || !(await isActive(db, user))) return undefined
  return { ...membership, actor: toActor(user) }
}

/**
 * Notifies those who may decide on calls that begin to wait: the user who asked, owners, admins, then the members who have
 * written last. Part of a transaction that has locked the conversation.
 *
 * @param calls of one answer
 */
export async function tellDeciders(
  { access, config }: TellingContext,
  tx: Tx,
  answer: { message_id: string; conversation_id: string; root_id: string },
  calls: readonly { call: CallRow; rule: ApprovalRule }[],
  at: Micros,
): Promise<void> {
  const asker_id = calls[0]!.call.user_id
  const with_members = calls.some(({ rule }) => rule.by === 'members')
  const rules = calls.map(({ rule }) => ({
    approvers: rule.by,
    not_asker: Number(rule.not_asker),
    user_id: asker_id,
  }))
  const { conversation_id } = answer
  const told: Candidate[] = []
  const wanted = { asker_id, with_members, limit: MAX.looked_at }
  for (const candidate of await listCandidates(tx, conversation_id, wanted)) {
    if (told.length === MAX.told) break
    if (levelOf(candidate, config.notifications.default_level) === 'none') continue
    if (candidate.disabled_at !== null || candidate.is_abandoned === 1) continue
    const decider = { ...candidate, actor: toActor({ ...candidate, id: candidate.user_id }) }
    if (rules.some((rule) => mayDeny(access, rule, decider))) told.push(candidate)
  }
  await notifyDeciders(tx, answer, told, at)
}
