import type { HostUser } from '../../accounts/host-identity/service.ts'
import { findPerson } from '../../accounts/identities/host-person.ts'
import { findUser, findUserByUsername, lockUsers } from '../../accounts/users/store.ts'
import { isOfService } from '../../accounts/users/store-system.ts'
import type { Context } from '../../context.ts'
import { assertServiceRight } from '../../core/access.ts'
import { type Actor, assertUser } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { useCase } from '../../core/use-case.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { reviewJoin } from '../hooks/before.ts'
import { toPairKey } from '../memberships/rules.ts'
import { insertParticipant } from '../memberships/store.ts'
import { insertConversation, NOT_DIRECT } from '../memberships/store-conversations.ts'
import { findPair } from '../memberships/store-direct.ts'
import { findSettings } from '../memberships/store-settings.ts'
import { assertReaches, isKnown } from '../people/reach.ts'
import type { OpenedConversation } from './schema.ts'
import { AnyDirectInput } from './schema-direct.ts'
import { get } from './service.ts'
import { setSettings } from './service-settings.ts'

/**
 * The direct conversation of the actor with another user, or with themselves: each call returns the same one, the first
 * creates it. Both own it. For the actor it is no longer archived. With a system actor it has one participant, the
 * user, and is opened whatever `direct.*` is.
 *
 * @throws ChatError `not_found` for a user that the actor may not know of, and a disabled one, and with
 *   `direct.enabled = false`; `forbidden` without the right `open_direct`, for a user beyond its reach, and by the hook
 */
export const direct = useCase({
  takes: ['actor'],
  input: AnyDirectInput,
  errors: ['not_found', 'forbidden'],
  run: async (ctx, actor, input): Promise<OpenedConversation> => {
    assertUser(actor)
    const isSystem = actor.system !== undefined
    if (!ctx.config.direct.enabled && !isSystem) throw new ChatError('not_found')
    assertServiceRight(ctx.access, actor, 'open_direct')
    const partner = await findPartner(ctx, actor, input)
    const pair_key = toPairKey(actor.user_id, partner.id)
    const existingId = await findPair(ctx.db, pair_key)
    const created = existingId === undefined ? await create(ctx, actor, { partner, pair_key }) : undefined
    const conversation_id = created ?? existingId ?? (await findPair(ctx.db, pair_key))
    if (conversation_id === undefined) throw new ChatError('not_found')
    if (created === undefined && !isSystem) await unarchive(ctx, actor, conversation_id)
    const conversation = await get.run(ctx, actor, conversation_id)
    return { conversation_id, created: created !== undefined, conversation }
  },
})

/**
 * @throws ChatError `not_found`, also for a disabled user, a system actor, the bot of a hook, and a user that the actor may not
 *   know of
 */
async function findPartner(ctx: Context, actor: Actor, input: AnyDirectInput): Promise<HostUser> {
  const { db } = ctx
  const user =
    'subject' in input
      ? await findPerson(db, input.subject)
      : await ('user_id' in input ? findUser(db, input.user_id) : findUserByUsername(db, input.username))
  const known = await isKnown(ctx, db, actor, user?.id)
  if (!user || !known || user.disabled_at || (await isOfService(db, user.id)))
    throw new ChatError('not_found', NO_SUCH_USER)
  return user
}

const NO_SUCH_USER = { message: 'There is no such user.' }

interface Pair {
  partner: { id: string }
  pair_key: string
}

/** @returns the id of the new conversation; `undefined` if another call was faster */
async function create(ctx: Context, actor: Actor, { partner, pair_key }: Pair): Promise<string | undefined> {
  const { user_id, system } = actor
  const isOwn = partner.id === user_id
  await assertReaches(ctx, ctx.db, actor, 'open_direct', partner.id)
  const id = ctx.id()
  if (!isOwn) await reviewJoin(ctx, { actor, conversation_id: id, user_id: partner.id, role: 'owner', direct: true })
  const people = isOwn ? [user_id] : [user_id, partner.id]
  const participants = system === undefined ? people : [partner.id]
  const isCreated = await ctx.write(async (tx) => {
    // Locked: an erasure either finds the conversation, or has disabled the user before.
    const users = await lockUsers(tx, people, { admins: false })
    if (users.length < people.length || users.some((user) => user.disabled_at))
      throw new ChatError('not_found', NO_SUCH_USER)
    return insertDirect(ctx, tx, { id, pair_key, participants, system_id: system === undefined ? null : user_id })
  })
  if (!isCreated) return undefined
  if (participants.length === 2) await ctx.streams.presence.introduce(id, partner.id)
  return id
}

interface NewDirect {
  id: string
  pair_key: string
  participants: string[]
  /** The system actor that opens it. */
  system_id: string | null
}

/** @returns false if the pair has a conversation already */
async function insertDirect(
  ctx: Context,
  tx: Tx,
  { id, pair_key, participants, system_id }: NewDirect,
): Promise<boolean> {
  const at = ctx.now()
  const fields = { ...NOT_DIRECT, title: '', is_group: 0, ref: null, metadata: null, created_at: at }
  if (!(await insertConversation(tx, { id, ...fields, is_direct: 1, pair_key }, system_id))) return false
  for (const user_id of participants) {
    await insertParticipant(tx, id, { user_id, role: 'owner', joined_at: at })
    tx.emit(id, { type: 'membership.changed', user_id, detail: { role: 'owner', action: 'added' } })
  }
  return true
}

async function unarchive(ctx: Context, actor: Actor, conversationId: string): Promise<void> {
  const settings = await findSettings(ctx.db, conversationId, actor.user_id)
  if (settings?.archived === 1) await setSettings.run(ctx, actor, conversationId, { archived: false })
}
