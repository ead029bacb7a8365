import type { Actor, Context } from '../context.ts'
import { ChatError } from '../errors.ts'
import { findPosition } from '../events/store.ts'
import { findPresence } from '../presence/service.ts'
import type { Queries } from '../storage/database.ts'
import { findUser, findUserByEmail, findUserByUsername, type UserRow } from '../users/store.ts'
import { enter, visit } from './access.ts'
import { canManage, mayWrite } from './rules.ts'
import {
  type AddedParticipant,
  type Conversation,
  type CreatedConversation,
  NewConversation,
  NewParticipant,
  type Participant,
} from './schema.ts'
import {
  countParticipants,
  deleteParticipant,
  findConversation,
  findPlace,
  insertConversation,
  insertParticipant,
  listParticipants,
  type ParticipantRow,
  toFields,
  toParticipant,
} from './store.ts'

/** What each use-case takes last. */
export const inputs = { create: NewConversation, addParticipant: NewParticipant }

/** Two people and no more talk in a conversation that is not a group. */
const PAIR = 2

/**
 * Opens a conversation; the actor is its owner.
 *
 * @throws ChatError `forbidden` for a read-only user
 */
export async function create(ctx: Context, actor: Actor, input: NewConversation): Promise<CreatedConversation> {
  if (!mayWrite(actor.roles)) throw new ChatError('forbidden')
  const row = { id: ctx.id(), title: input.title, is_group: input.is_group ? 1 : 0, created_at: ctx.now() }
  const participants = await ctx.write(async (tx) => {
    await insertConversation(tx, row)
    await insertParticipant(tx, row.id, { user_id: actor.user_id, role: 'owner', joined_at: row.created_at })
    tx.emit(row.id, { type: 'membership.changed', user_id: actor.user_id, detail: { role: 'owner', action: 'added' } })
    return listParticipants(tx, row.id)
  })
  return {
    conversation_id: row.id,
    conversation: { ...toFields(row), participants: await withPresence(ctx, participants) },
  }
}

/** @throws ChatError `not_found` */
export async function get(ctx: Context, actor: Actor, conversationId: string): Promise<Conversation> {
  const { row, participants, stream_position } = await ctx.db.snapshot(async (db) => {
    await visit(db, actor, conversationId)
    return {
      row: (await findConversation(db, conversationId))!,
      participants: await listParticipants(db, conversationId),
      stream_position: await findPosition(db, conversationId),
    }
  })
  return { ...toFields(row), participants: await withPresence(ctx, participants), stream_position }
}

/**
 * Adds a user to a conversation and tells it.
 *
 * @throws ChatError `not_found` for the conversation or the user; `forbidden` below admin, or to add an owner without
 *   being one; `already_participant`; `conflict` for a third one in a conversation of two
 */
export async function addParticipant(
  ctx: Context,
  actor: Actor,
  conversationId: string,
  input: NewParticipant,
): Promise<AddedParticipant> {
  const row = await ctx.write(async (tx) => {
    const place = await enter(ctx, tx, actor, conversationId)
    if (!canManage(place.role, input.role)) throw new ChatError('forbidden')
    const user = await findInvitee(tx, input)
    if (!user || user.disabled_at) throw new ChatError('not_found', { message: 'There is no such user.' })

    const added: ParticipantRow = {
      user_id: user.id,
      username: user.username,
      display_name: user.display_name,
      role: input.role,
      joined_at: place.at,
    }
    if (!(await insertParticipant(tx, conversationId, added))) throw new ChatError('already_participant')
    const conversation = await findConversation(tx, conversationId)
    if (!conversation!.is_group && (await countParticipants(tx, conversationId)).all > PAIR) {
      throw new ChatError('conflict', { message: 'This conversation is between two people.' })
    }
    tx.emit(conversationId, {
      type: 'membership.changed',
      user_id: user.id,
      detail: { role: input.role, action: 'added' },
    })
    const presence = await findPresence(ctx, user.id)
    tx.announce(conversationId, { type: 'presence.update', payload: { user_id: user.id, ...presence } })
    return { added, presence }
  })
  return { participant: toParticipant(row.added, row.presence) }
}

/**
 * Removes a participant, whose streams of the conversation close. Everybody may remove themselves.
 *
 * @throws ChatError `not_found`, also for somebody who does not take part; `forbidden`; `last_owner`
 */
export async function removeParticipant(
  ctx: Context,
  actor: Actor,
  conversationId: string,
  userId: string,
): Promise<void> {
  await ctx.write(async (tx) => {
    const place = await enter(ctx, tx, actor, conversationId)
    const other = await findPlace(tx, conversationId, userId)
    if (!other) throw new ChatError('not_found')
    if (userId !== actor.user_id && !canManage(place.role, other.role)) throw new ChatError('forbidden')
    if (other.role === 'owner' && (await countParticipants(tx, conversationId)).owners === 1)
      throw new ChatError('last_owner')
    await deleteParticipant(tx, conversationId, userId)
    tx.emit(conversationId, { type: 'membership.changed', user_id: userId, detail: { action: 'removed' } })
    tx.recheckStreams()
  })
}

function findInvitee(tx: Queries, input: NewParticipant): Promise<UserRow | undefined> {
  if ('user_id' in input) return findUser(tx, input.user_id)
  return 'username' in input ? findUserByUsername(tx, input.username) : findUserByEmail(tx, input.email)
}

function withPresence(ctx: Context, rows: ParticipantRow[]): Promise<Participant[]> {
  return Promise.all(rows.map(async (row) => toParticipant(row, await findPresence(ctx, row.user_id))))
}
