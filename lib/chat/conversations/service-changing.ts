import { byActor } from '../../accounts/audit/rules.ts'
import { assertMay } from '../../core/access.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { useCase } from '../../core/use-case.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { isTaken } from '../../storage/errors.ts'
import { lockAsMember } from '../memberships/access.ts'
import { beginAutoJoin } from '../memberships/auto-join.ts'
import { assertJoinable, REF_TAKEN, refuseDirect } from '../memberships/rules.ts'
import { assertAdministers } from '../memberships/rules-auto-join.ts'
import { layoutOf, toLookColumns } from '../memberships/rules-look.ts'
import { changedPolicy } from '../memberships/rules-settings.ts'
import { lockAutoJoin } from '../memberships/store-auto-join.ts'
import {
  type CountedRow,
  findConversation,
  toStored,
  toVisibility,
  updateConversation,
} from '../memberships/store-conversations.ts'
import { assertAssistants, toAssistantColumns, toAuditDetail } from './rules-assistant.ts'
import { type Conversation, Rename } from './schema.ts'
import { get } from './service.ts'

type Changes = Parameters<typeof updateConversation>[2]

/**
 * Changes the title, the layout, the topic, the icon, the ref, the metadata, the assistant or the policy of a conversation, or freezes
 * it, and publishes an event. A frozen one is changed in no other way than by ending that.
 *
 * @throws ChatError `not_found`; `forbidden` unless the actor is its owner, or an admin who changes neither the title, the
 *   ref nor the metadata, and freezes nothing; `conflict` for a `ref` that another conversation has, for a frozen one, and
 *   for what a direct conversation has not: title, layout, topic, icon, own rules but
 *   `mention_all`, `receipts` and `assistants`, freezing; `validation_failed` for an assistant that the service does not have
 */
export const rename = useCase({
  takes: ['actor', 'conversation_id'],
  input: Rename,
  errors: ['not_found', 'forbidden', 'conflict'],
  run: async (ctx, actor, conversationId, input): Promise<Conversation> => {
    const { title, ref, metadata, policy = {}, assistant, frozen, visibility, auto_join } = input
    assertAssistants(ctx.assistants, { policy, assistant })
    const changes: Changes = {
      ...(title !== undefined && { title }),
      ...(ref !== undefined && { ref: ref || null }),
      ...(metadata && { metadata: toStored(metadata) }),
    }
    const look = toLookColumns(input)
    const chosen = toAssistantColumns(assistant)
    const isOnlyMore = [changes, look, policy, chosen].every((each) => Object.keys(each).length === 0)
    if (auto_join !== undefined) assertAdministers(actor)
    const changing = ctx.write(async (tx) => {
      if (auto_join !== undefined || frozen === false) await lockAutoJoin(tx)
      const act = visibility === undefined && auto_join === undefined ? undefined : 'publish'
      const place = await lockAsMember(ctx, tx, actor, { conversation_id: conversationId }, { act })
      const by = { ...place, actor, ...(frozen === false && { frozen_at: null }) }
      if (frozen !== undefined) assertMay(ctx.access, by, 'freeze')
      if (act) assertMay(ctx.access, by, act)
      if ((frozen === undefined && !act) || !isOnlyMore)
        assertMay(ctx.access, by, Object.keys(changes).length === 0 ? 'policy' : 'rename')
      if (title !== undefined) refuseDirect(place, 'it has no title')
      if (Object.keys(look).length > 0) refuseDirect(place, 'it has no layout, topic and icon of its own')
      if (Object.keys(policy).some((key) => !IN_DIRECT.has(key))) refuseDirect(place, 'both may do everything in it')
      if (frozen) refuseDirect(place, 'it is not frozen')
      if (visibility !== undefined) refuseDirect(place, 'it is private')
      if (auto_join !== undefined) refuseDirect(place, 'no others join it')
      const before = (await findConversation(tx, conversationId))!
      if (Object.keys(policy).length > 0) changes.policy = changedPolicy(before.policy, policy)
      if (frozen !== undefined && frozen !== (before.frozen_at !== null)) changes.frozen_at = frozen ? place.at : null
      if (visibility !== undefined) Object.assign(changes, toVisibility(visibility), { title: title ?? before.title })
      if (auto_join !== undefined && auto_join !== before.auto_join) changes.auto_join = auto_join
      const after = { ...before, ...changes }
      assertJoinable(after.visibility, after.policy)
      if (changes.auto_join || (changes.frozen_at === null && after.auto_join)) await beginAutoJoin(tx, after)
      Object.assign(changes, look, chosen)
      auditChanges(tx, actor, before, input)
      await updateConversation(tx, conversationId, changes)
      // Users who do not participate read it no longer.
      if (before.visibility === 'open' && after.visibility !== 'open')
        tx.recheckStreams({ conversation_id: conversationId })
      if (Object.keys(changes).length > 0) tx.emit(conversationId, { type: 'conversation.updated' })
    })
    await changing.catch((cause) => {
      throw isTaken(cause) ? new ChatError('conflict', { ...REF_TAKEN, cause }) : cause
    })
    return get.run(ctx, actor, conversationId)
  },
})

/** The rules that direct conversations have, too. */
const IN_DIRECT: ReadonlySet<string> = new Set(['mention_all', 'receipts', 'assistants'])

function auditChanges(
  tx: Tx,
  actor: Actor,
  before: CountedRow,
  { title, layout, policy = {}, assistant, frozen, visibility, auto_join }: Rename,
): void {
  const about = { ...byActor(actor), subject_id: before.id, conversation_id: before.id }
  if (title !== undefined && title !== before.title)
    tx.audit({ act: 'conversation.renamed', ...about, names: { old_title: before.title, title } })
  if (layout && layout !== before.layout) {
    const detail = { old_layout: layoutOf(before), layout }
    tx.audit({ act: 'conversation.layout_changed', ...about, detail })
  }
  const isFrozen = before.frozen_at !== null
  const rules = Object.fromEntries(Object.entries(policy).map(([key, value]) => [key, value ?? 'unset']))
  const isSeen = visibility !== undefined && visibility !== (before.visibility ?? 'private')
  const joins = auto_join !== undefined && auto_join !== before.auto_join && { auto_join: auto_join ?? 'unset' }
  const more = {
    ...(frozen !== undefined && frozen !== isFrozen && { frozen }),
    ...(isSeen && { visibility }),
    ...joins,
    ...(assistant !== undefined && toAuditDetail(before, assistant)),
  }
  const detail = { ...rules, ...more }
  if (Object.keys(detail).length > 0) tx.audit({ act: 'conversation.policy_changed', ...about, detail })
}
