import { byActor } from '../../accounts/audit/rules.ts'
import type { HostUser } from '../../accounts/host-identity/service.ts'
import { findPerson } from '../../accounts/identities/host-person.ts'
import { photosOf } from '../../accounts/users/photos.ts'
import { findUser, findUserByEmail, findUserByUsername } from '../../accounts/users/store.ts'
import { isOfService } from '../../accounts/users/store-system.ts'
import type { Context } from '../../context.ts'
import { assertMayGive, assertRoles, hasRight } from '../../core/access.ts'
import { type Actor, refuseKeys } from '../../core/actor.ts'
import { ChatError, type ErrorReason } from '../../core/errors.ts'
import { fit, fromCursor, jsonBytes, toCursor } from '../../core/pages.ts'
import { useCase } from '../../core/use-case.ts'
import type { Queries } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'
import {
  type AddedParticipant,
  AnyParticipantInput,
  type ChangedParticipant,
  type Participant,
  type ParticipantPage,
  type ParticipantRole,
  ParticipantsQuery,
  RoleChange,
} from '../conversations/schema.ts'
import { reviewJoin } from '../hooks/before.ts'
import { createInvite } from '../invites/create.ts'
import { reserveMail } from '../invites/mail.ts'
import { revokeInvitesOf } from '../invites/revocation.ts'
import { rolesBeyond } from '../invites/rules.ts'
import { lockAsMember, requireMember, requireReader } from '../memberships/access.ts'
import { assertHoldable, join } from '../memberships/join.ts'
import { refuseDirect } from '../memberships/rules.ts'
import { countParticipants, findMembership, listParticipants, toParticipant, updateRole } from '../memberships/store.ts'
import { isOfSystem } from '../memberships/store-conversations.ts'
import { FIRST, withPresence } from '../memberships/with-presence.ts'
import { makeNotifications, type NewNotification } from '../notifications/store-making.ts'
import { parseQuery } from '../people/query.ts'
import { assertReaches, isKnown } from '../people/reach.ts'
import { endParticipation } from './ending.ts'
import { findParticipants } from './find.ts'

/**
 * A page of the participants of a conversation, in the order they joined; with a query, those with such names.
 *
 * @throws ChatError `not_found`; `invalid_cursor`; `validation_failed` for a query that is too short, or with a cursor
 */
export const list = useCase({
  takes: ['actor', 'conversation_id'],
  input: ParticipantsQuery,
  errors: ['not_found', 'invalid_cursor', 'validation_failed'],
  run: async (ctx, actor, conversationId, input): Promise<ParticipantPage> => {
    const after = input.after === undefined ? FIRST : fromCursor(input.after)
    if (input.query !== undefined) return listCalled(ctx, actor, conversationId, { ...input, query: input.query })
    const rows = await ctx.db.snapshot(async (db) => {
      await requireReader(ctx, db, actor, conversationId)
      if (!after) throw new ChatError('invalid_cursor')
      return listParticipants(db, conversationId, after, input.limit + 1)
    })
    const participants = fit(await withPresence(ctx, rows.slice(0, input.limit)), sizeOfParticipant)
    const last = participants.length < rows.length ? rows[participants.length - 1] : undefined
    return { participants, ...(last && { next_after: toCursor({ at: last.joined_at, id: last.user_id }) }) }
  },
})

/** The most participants that are found by their names. */
const MAX_CALLED = 50

async function listCalled(
  ctx: Context,
  actor: Actor,
  conversationId: string,
  input: ParticipantsQuery & { query: string },
): Promise<ParticipantPage> {
  const query = parseQuery(input.query)
  if (input.after !== undefined) throw new ChatError('validation_failed', { errors: [NO_CURSOR] })
  const rows = await ctx.db.snapshot(async (db) => {
    await requireReader(ctx, db, actor, conversationId)
    return findParticipants(db, conversationId, { query, limit: Math.min(input.limit, MAX_CALLED) })
  })
  return { participants: await withPresence(ctx, rows) }
}

const NO_CURSOR = { path: 'after', message: 'must not be there with a query' }

/**
 * Adds a user to a conversation and publishes an event. For an email address that no user has verified, it creates an
 * invite instead. A host names its people by `subject`: `chat.users.ensure` makes them known first.
 *
 * @throws ChatError `not_found` for the conversation or the user; `forbidden` below admin, to add an owner without being
 *   one or with an API key, and with one to invite an admin; `already_participant`; `conflict` in a direct conversation,
 *   for a third participant with `is_group: false`, and to mail an invite if the service sends no mail; `rate_limited`
 */
export const add = useCase({
  takes: ['actor', 'conversation_id'],
  input: AnyParticipantInput,
  errors: ['not_found', 'forbidden', 'already_participant', 'conflict'],
  run: (ctx, actor, conversationId, input): Promise<AddedParticipant> =>
    addTo(ctx, actor, conversationId, input).catch((error: unknown) => throwNotShared(ctx, actor, input, error)),
})

/** Refusals by the conversation, before which a user beyond the actor's reach is named. */
const OF_PLACE: ReadonlySet<ErrorReason | undefined> = new Set(['not_joined', 'participant_role', 'policy', 'frozen'])

async function throwNotShared(ctx: Context, actor: Actor, input: AnyParticipantInput, error: unknown): Promise<never> {
  if (error instanceof ChatError && OF_PLACE.has(error.reason)) await findInvitee(ctx, ctx.db, actor, input)
  throw error
}

async function addTo(
  ctx: Context,
  actor: Actor,
  conversationId: string,
  input: AnyParticipantInput,
): Promise<AddedParticipant> {
  assertRoles(ctx.access.participant, 'role', [input.role])
  if (ctx.host.hooks.beforeJoin) await review(ctx, actor, conversationId, input)
  if ('email' in input) await reserveMail(ctx, actor, input)
  const added = await ctx.write(async (tx) => {
    const place = await lockAsMember(ctx, tx, actor, { conversation_id: conversationId }, { act: 'add' })
    if (hasRight(ctx.access, input.role, 'delete')) refuseKeys(actor)
    assertMayGive(ctx.access, { ...place, actor }, 'add', input.role)
    refuseDirect(place, 'it has no other participants')
    const user = await findInvitee(ctx, tx, actor, input)
    if (!user && 'email' in input) {
      const { token, expires_at } = await createInvite(ctx, tx, actor, conversationId, input)
      return { invite: { ...(token !== undefined && { token }), expires_at } }
    }
    if (!user || user.disabled_at || (await isOfService(tx, user.id)))
      throw new ChatError('not_found', { message: 'There is no such user.' })
    await assertHoldable(ctx, tx, user.id, input.role)
    const joined = await join(tx, conversationId, { user, role: input.role, at: place.at, by: byActor(actor) })
    if (!joined) throw new ChatError('already_participant')
    const { id: user_id, username, display_name, avatar_url, kind } = user
    if (user_id !== actor.user_id && kind !== 'bot')
      tx.notify(makeNotifications(tx, [addition(ctx, actor, conversationId, { user_id, at: place.at })]))
    return { row: { user_id, username, display_name, avatar_url, kind, role: input.role, joined_at: place.at } }
  })
  if (!added.row) return { invite: added.invite }
  await ctx.streams.presence.introduce(conversationId, added.row.user_id)
  return {
    participant: toParticipant(added.row, await ctx.streams.presence.find(added.row.user_id), photosOf(ctx.config)),
  }
}

/** The notification of an added user. */
function addition(
  ctx: Context,
  { user_id: actor_user_id }: Actor,
  conversation_id: string,
  { user_id, at }: { user_id: string; at: Micros },
): NewNotification {
  const about = { conversation_id, root_id: null, message_id: null, actor_user_id }
  const user = { user_id, level: null, muted_until: null, archived: 0 }
  return { id: ctx.id(), kind: 'added', ...about, at, users: [user] }
}

/** Asks the host about a new participant, unless the service refuses that participant anyway. */
async function review(ctx: Context, actor: Actor, conversation_id: string, input: AnyParticipantInput): Promise<void> {
  const { role } = input
  const place = await requireMember(ctx, ctx.db, actor, conversation_id, { act: 'add' })
  assertMayGive(ctx.access, { ...place, actor }, 'add', role)
  const user = await findInvitee(ctx, ctx.db, actor, input)
  if (!user || user.disabled_at || (await findMembership(ctx.db, conversation_id, user.id))) return
  await reviewJoin(ctx, { actor, conversation_id, user_id: user.id, role })
}

/**
 * Changes the role of a participant and publishes an event.
 *
 * @throws ChatError `not_found`, also for a user who is not a participant; `forbidden` below admin, and to make or
 *   change an owner without being one or with an API key; `last_owner`; `conflict` in a direct conversation
 */
export const changeRole = useCase({
  takes: ['actor', 'conversation_id', 'user_id'],
  input: RoleChange,
  errors: ['not_found', 'forbidden', 'last_owner', 'conflict'],
  run: async (ctx, actor, conversationId, userId, { role }): Promise<ChangedParticipant> => {
    assertRoles(ctx.access.participant, 'role', [role])
    const other = await ctx.write(async (tx) => {
      const place = await lockAsMember(ctx, tx, actor, { conversation_id: conversationId })
      const other = await findMembership(tx, conversationId, userId)
      if (!other) throw new ChatError('not_found')
      if ([role, other.role].some((each) => hasRight(ctx.access, each, 'delete'))) refuseKeys(actor)
      assertMayGive(ctx.access, { ...place, actor }, 'manage', other.role, role)
      refuseDirect(place, 'both own it')
      await assertHoldable(ctx, tx, userId, role)
      if (role !== 'owner') await assertNotLastOwner(tx, conversationId, other.role)
      await updateRole(tx, conversationId, userId, role)
      if (role !== other.role) {
        const about = { subject_id: userId, conversation_id: conversationId, detail: { old_role: other.role, role } }
        tx.audit({ act: 'participant.role_changed', ...byActor(actor), ...about })
      }
      const issuer = { user_id: userId, conversation_id: conversationId, roles: rolesBeyond(ctx.access, role) }
      if (issuer.roles.length > 0) await revokeInvitesOf(ctx, tx, issuer, byActor(actor))
      tx.emit(conversationId, { type: 'membership.changed', user_id: userId, detail: { role, action: 'role_updated' } })
      return { ...other, user: (await findUser(tx, userId))! }
    })
    const { user, joined_at } = other
    const { username, display_name, avatar_url, kind } = user
    const row = { user_id: userId, username, display_name, avatar_url, kind, role, joined_at }
    return { participant: toParticipant(row, await ctx.streams.presence.find(userId), photosOf(ctx.config)) }
  },
})

/**
 * Removes a participant, whose streams of the conversation close. Every participant may leave.
 *
 * @throws ChatError `not_found`, also for a user who is not a participant; `forbidden`, also for an owner with an API
 *   key; `last_owner`; `conflict` in
 *   a direct conversation, which can be archived instead
 */
export const remove = useCase({
  takes: ['actor', 'conversation_id', 'user_id'],
  errors: ['not_found', 'forbidden', 'last_owner', 'conflict'],
  frees: 'half',
  run: async (ctx, actor, conversationId, userId): Promise<void> => {
    await ctx.write(async (tx) => {
      const place = await lockAsMember(
        ctx,
        tx,
        actor,
        { conversation_id: conversationId },
        { evenReadOnly: userId === actor.user_id },
      )
      const other = await findMembership(tx, conversationId, userId)
      if (!other) throw new ChatError('not_found')
      if (hasRight(ctx.access, other.role, 'delete')) refuseKeys(actor)
      // Also of a frozen one: to remove a participant is moderation.
      if (userId !== actor.user_id)
        assertMayGive(ctx.access, { ...place, frozen_at: null, actor }, 'manage', other.role)
      refuseDirect(place, 'archive it instead')
      await assertNotLastOwner(tx, conversationId, other.role)
      await endParticipation(ctx, tx, { conversation_id: conversationId, user_id: userId }, { by: byActor(actor) })
    })
  },
})

async function assertNotLastOwner(tx: Queries, conversationId: string, role: ParticipantRole): Promise<void> {
  if (role !== 'owner' || (await countParticipants(tx, conversationId)).owners > 1) return
  if (!(await isOfSystem(tx, conversationId))) throw new ChatError('last_owner')
}

/** The user with this verified address. An unverified one may belong to another person: that address gets an invite. */
async function findUserByProvenEmail(tx: Queries, email: string): Promise<HostUser | undefined> {
  const user = await findUserByEmail(tx, email)
  return user?.email_verified_at === null ? undefined : user
}

/**
 * The user to add, if the actor may know of one.
 *
 * @throws ChatError `forbidden` for a user beyond the reach of the right `add_people`
 */
async function findInvitee(
  ctx: Context,
  db: Queries,
  actor: Actor,
  input: AnyParticipantInput,
): Promise<HostUser | undefined> {
  const user = await findNamed(db, input)
  if (!(await isKnown(ctx, db, actor, user?.id)) || !user) return undefined
  await assertReaches(ctx, db, actor, 'add_people', user.id)
  return user
}

function findNamed(tx: Queries, input: AnyParticipantInput): Promise<HostUser | undefined> {
  if ('subject' in input) return findPerson(tx, input.subject)
  if ('user_id' in input) return findUser(tx, input.user_id)
  return 'username' in input ? findUserByUsername(tx, input.username) : findUserByProvenEmail(tx, input.email)
}

const sizeOfParticipant = ({ username, display_name = '', avatar_url = '' }: Participant) =>
  jsonBytes(username) + jsonBytes(display_name) + jsonBytes(avatar_url) + 370
