import { byActor } from '../../accounts/audit/rules.ts'
import { photosOf } from '../../accounts/users/photos.ts'
import { listEnabledUsers } from '../../accounts/users/store.ts'
import type { Context } from '../../context.ts'
import { assertMay, assertServiceRight } from '../../core/access.ts'
import { type Actor, assertUser, refuseGuests } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { fit, fromCursor, jsonBytes, toCursor } from '../../core/pages.ts'
import { toInstant } from '../../core/time.ts'
import { useCase } from '../../core/use-case.ts'
import { findPosition } from '../../live/log/log.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { lockAsMember, requireReader } from '../memberships/access.ts'
import { beginAutoJoin } from '../memberships/auto-join.ts'
import { assertJoinable, REF_TAKEN, refuseDirect } from '../memberships/rules.ts'
import { assertAdministers } from '../memberships/rules-auto-join.ts'
import { toLookColumns } from '../memberships/rules-look.ts'
import { changedPolicy } from '../memberships/rules-settings.ts'
import { insertParticipant } from '../memberships/store.ts'
import {
  type CountedRow,
  findConversation,
  findConversationByRef,
  insertConversation,
  NOT_DIRECT,
  toFields,
  toStored,
  toVisibility,
} from '../memberships/store-conversations.ts'
import { listPartners, type Partner } from '../memberships/store-direct.ts'
import { findSettings, toOwnFields } from '../memberships/store-settings.ts'
import { findFirst, withPresence } from '../memberships/with-presence.ts'
import { makeNotifications } from '../notifications/store-making.ts'
import { isErasing, toNumbers } from '../unread/store.ts'
import { listFounders, toOwnerAdded } from './founders.ts'
import { hide } from './removal.ts'
import { actsOf, actsOfReader } from './rules.ts'
import { assertAssistants } from './rules-assistant.ts'
import {
  type Conversation,
  ConversationByRef,
  type ConversationPage,
  type ConversationSummary,
  ConversationsQuery,
  type CreatedConversation,
  NewConversation,
  type OpenedConversation,
} from './schema.ts'
import { settingsContext } from './service-settings.ts'
import { listConversations } from './store.ts'
import { listLastMessages } from './store-last.ts'

/**
 * Creates a conversation; the actor becomes its owner, unless it is a system actor. What a bot creates belongs to its owner.
 *
 * @throws ChatError `forbidden` for a read-only user, for the operator, and for a disabled system actor; `conflict` for
 *   a `ref` that another conversation has
 */
export const create = useCase({
  takes: ['actor'],
  input: NewConversation,
  errors: ['forbidden', 'conflict'],
  run: async (ctx, actor, input): Promise<CreatedConversation> => {
    const row = prepareConversation(ctx, actor, input)
    const people = await ctx.write((tx) => storeConversation(ctx, tx, actor, row))
    const participants = await withPresence(ctx, people)
    const participant_count = participants.length
    const role = actor.is_bot ? 'admin' : 'owner'
    const can = actsOf(ctx, actor)({ ...row, participant_count, role, is_closed: false })
    const conversation = { ...toFields(row), participants, participant_count, can }
    return { conversation_id: row.id, conversation }
  },
})

/** The row of a new conversation of an actor. @throws ChatError `forbidden`, `conflict`, `validation_failed` as {@link create} */
export function prepareConversation(ctx: Context, actor: Actor, input: NewConversation) {
  assertUser(actor)
  // Its owner has rights that no guest has in a conversation.
  refuseGuests(actor)
  assertServiceRight(ctx.access, actor, 'create_conversations')
  const { title, is_group, ref = null, metadata = {}, visibility = 'private', auto_join = null } = input
  if (visibility !== 'private' || auto_join) assertServiceRight(ctx.access, actor, 'publish')
  if (auto_join) assertAdministers(actor)
  const look = { layout: ctx.config.conversations.default_layout, ...toLookColumns(input) }
  const now = ctx.now()
  assertAssistants(ctx.assistants, input)
  const policy = input.policy === undefined ? {} : { policy: changedPolicy(null, input.policy) }
  const row = {
    id: ctx.id(),
    title,
    is_group: is_group ? 1 : 0,
    ref,
    metadata: toStored(metadata),
    created_at: now,
    ...NOT_DIRECT,
    ...look,
    ...policy,
    frozen_at: input.frozen ? now : null,
    ...toVisibility(visibility),
    auto_join,
  }
  assertJoinable(row.visibility, row.policy)
  return row
}

/** Stores a new conversation with its first participants. @throws ChatError as {@link create} */
export async function storeConversation(
  ctx: Context,
  tx: Tx,
  actor: Actor,
  row: ReturnType<typeof prepareConversation>,
) {
  const isSystem = actor.system !== undefined
  if (isSystem && !(await listEnabledUsers(tx, [actor.user_id])).has(actor.user_id))
    throw new ChatError('forbidden', { reason: 'role' })
  if (row.auto_join) await beginAutoJoin(tx, row)
  if (!(await insertConversation(tx, row, isSystem ? actor.user_id : null))) throw new ChatError('conflict', REF_TAKEN)
  if (isSystem) return findFirst(tx, row.id)
  const founders = await listFounders(tx, actor)
  for (const { user_id, role } of founders) {
    await insertParticipant(tx, row.id, { user_id, role, joined_at: row.created_at })
    tx.emit(row.id, { type: 'membership.changed', user_id, detail: { role, action: 'added' } })
  }
  if (actor.is_bot) tx.notify(makeNotifications(tx, [toOwnerAdded(ctx, founders, row)]))
  return findFirst(tx, row.id)
}

/**
 * The conversation with a ref: the same at every call. The first call creates it, with the actor as its owner; later ones
 * change nothing.
 *
 * @throws ChatError `forbidden` as {@link create}; `not_found` if the actor is no participant of the conversation
 */
export const ensure = useCase({
  takes: ['actor'],
  input: ConversationByRef,
  errors: ['forbidden', 'not_found'],
  run: async (ctx, actor, input): Promise<CreatedConversation> => {
    const { created: _, ...answer } = await findOrCreate(ctx, actor, input)
    return answer
  },
})

/** The conversation with a ref, as {@link ensure}, and whether this call has created it. */
export async function findOrCreate(ctx: Context, actor: Actor, input: ConversationByRef): Promise<OpenedConversation> {
  for (;;) {
    const conversation_id = await findConversationByRef(ctx.db, input.ref)
    if (conversation_id !== undefined) {
      const conversation = await get.run(ctx, actor, conversation_id)
      // A host would post with the answer, as the participant that it asks for.
      if (conversation.joined === false) throw new ChatError('not_found')
      return { conversation_id, created: false, conversation }
    }
    try {
      return { ...(await create.run(ctx, actor, input)), created: true }
    } catch (error) {
      // Another call was faster.
      if (!(error instanceof ChatError && error.code === 'conflict')) throw error
    }
  }
}

/** @throws ChatError `not_found` */
export const get = useCase({
  takes: ['actor', 'conversation_id'],
  errors: ['not_found'],
  run: async (ctx, actor, conversationId): Promise<Conversation> => {
    const { place, row, own, people, partner, stream_position } = await ctx.db.snapshot(async (db) => {
      const place = await requireReader(ctx, db, actor, conversationId)
      const row = (await findConversation(db, conversationId))!
      return {
        place,
        row,
        own: place.is_outside ? undefined : await findSettings(db, conversationId, actor.user_id),
        partner: (await listPartners(db, actor.user_id, [row], photosOf(ctx.config))).get(conversationId),
        people: await findFirst(db, conversationId),
        stream_position: await findPosition(db, conversationId),
      }
    })
    const settings = own && toOwnFields(own, settingsContext(ctx))
    // For a system actor the partner is the other person only in a conversation that it has opened.
    const isOfTwo = own !== undefined || row.system_id === actor.user_id
    return {
      ...toFields(row),
      participants: await withPresence(ctx, people),
      participant_count: row.participant_count,
      ...(partner && isOfTwo && { with: partner.shown }),
      ...(place.is_outside && { joined: false as const }),
      can: place.is_outside
        ? actsOfReader(ctx.access, actor, row)
        : actsOf(ctx, actor)({ ...row, role: place.role, is_closed: isClosed(row, partner) }),
      ...settings,
      stream_position,
    }
  },
})

/** Whether a conversation is a direct one whose other person has no active account. */
const isClosed = ({ is_direct, pair_key }: Pick<CountedRow, 'is_direct' | 'pair_key'>, partner?: Partner) =>
  is_direct === 1 && (pair_key === null || Boolean(partner?.isDisabled))

/**
 * A page of the actor's conversations, latest activity first.
 *
 * @throws ChatError `invalid_cursor`
 */
export const list = useCase({
  takes: ['actor'],
  input: ConversationsQuery,
  errors: ['invalid_cursor'],
  run: (ctx, actor, input): Promise<ConversationPage> => {
    const after = input.after === undefined ? LATEST : fromCursor(input.after)
    if (!after) throw new ChatError('invalid_cursor')
    return ctx.db.snapshot(async (db) => {
      const { user_id } = actor
      const rows = await listConversations(db, user_id, { ...input, after, limit: input.limit + 1 })
      const page = rows.slice(0, input.limit)
      const isBeingErased = await isErasing(db)
      const partners = await listPartners(db, user_id, page, photosOf(ctx.config))
      const lastMessages = await listLastMessages(
        db,
        page.map(({ id }) => id),
      )
      const canIn = actsOf(ctx, actor)
      const listed: typeof page = []
      const summaries: ConversationSummary[] = []
      for (const row of page) {
        const partner = partners.get(row.id)
        const last_message = lastMessages.get(row.id)
        const { unread, unread_replies } = await toNumbers(db, { user_id, conversation_id: row.id }, row, isBeingErased)
        // Messages that are being removed with their author are counted until then.
        if (input.unread && unread + unread_replies + row.unread_mentions === 0) continue
        listed.push(row)
        summaries.push({
          ...toFields(row),
          role: row.role,
          participant_count: row.participant_count,
          unread,
          unread_replies,
          ...(last_message && { last_message }),
          ...(partner && { with: partner.shown }),
          can: canIn({ ...row, is_closed: isClosed(row, partner) }),
          ...toOwnFields(row, settingsContext(ctx)),
          last_activity_at: toInstant(row.active_at),
        })
      }
      const conversations = fit(summaries, sizeOfSummary)
      const isCut = conversations.length < summaries.length
      const last = isCut ? listed[conversations.length - 1] : rows.length > page.length ? page.at(-1) : undefined
      return { conversations, ...(last && { next_after: toCursor({ at: last.active_at, id: last.id }) }) }
    })
  },
})

const sizeOfSummary = ({ title, topic = '', ref = '', metadata, last_message, with: partner }: ConversationSummary) =>
  [title, topic, ref, last_message?.excerpt ?? '', partner?.avatar_url ?? ''].reduce(
    (sum, text) => sum + jsonBytes(text),
    0,
  ) +
  (metadata ? MAX_LENGTH.metadata : 0) +
  2000

const LATEST = { at: Number.MAX_SAFE_INTEGER, id: '' }

/**
 * Deletes a conversation: it is hidden at once, and its streams close. A background task removes its content.
 *
 * @throws ChatError `not_found`; `forbidden` unless the actor is its owner; `conflict` for a direct conversation
 */
export const remove = useCase({
  takes: ['actor', 'conversation_id'],
  errors: ['not_found', 'forbidden', 'conflict'],
  frees: 'half',
  run: async (ctx, actor, conversationId): Promise<void> => {
    await ctx.write(async (tx) => {
      const place = await lockAsMember(ctx, tx, actor, { conversation_id: conversationId })
      assertMay(ctx.access, { ...place, actor }, 'delete')
      refuseDirect(place, 'archive it instead')
      await hide(tx, conversationId, { at: place.at, by: byActor(actor) })
      tx.recheckStreams({ conversation_id: conversationId })
    })
  },
})
