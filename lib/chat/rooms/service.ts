import { byActor } from '../../accounts/audit/rules.ts'
import { isCalled, queryWords } from '../../accounts/users/rules-words.ts'
import { lockUser } from '../../accounts/users/store.ts'
import type { Context } from '../../context.ts'
import { assertMayWrite, assertServiceRight, toRefused } from '../../core/access.ts'
import { type Actor, assertPerson } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { fit } from '../../core/pages.ts'
import { toInstant } from '../../core/time.ts'
import { useCase } from '../../core/use-case.ts'
import { takeShared } from '../../limits/store-buckets.ts'
import type { Queries } from '../../storage/database.ts'
import type { CreatedConversation } from '../conversations/schema.ts'
import { get } from '../conversations/service.ts'
import { reviewJoin } from '../hooks/before.ts'
import { lockAsSystem } from '../memberships/access.ts'
import { join as addParticipant } from '../memberships/join.ts'
import { isFull, joinPolicyOf, OF_TWO, refusalOfRoom } from '../memberships/rules.ts'
import { findMembership } from '../memberships/store.ts'
import { findConversation } from '../memberships/store-conversations.ts'
import { remove } from '../participants/service.ts'
import { parseQuery } from '../people/query.ts'
import { type Directory, DirectoryQuery, type PublicRoom } from './schema.ts'
import { listRooms, type RoomPlace, type RoomRow } from './store.ts'

/** How many rooms are read for a page of those with certain titles: a page may have fewer although more follow. */
const MAX_READ = 1_000

/**
 * A page of the conversations that users see without participating, by title.
 *
 * @throws ChatError `forbidden` without the right to browse; `invalid_cursor`; `validation_failed` for a short query
 */
export const directory = useCase({
  takes: ['actor'],
  input: DirectoryQuery,
  errors: ['forbidden', 'invalid_cursor', 'validation_failed'],
  run: async (ctx, actor, { query, after, limit }): Promise<Directory> => {
    assertPerson(actor)
    assertServiceRight(ctx.access, actor, 'browse')
    const words = query === undefined ? undefined : queryWords(parseQuery(query))
    const from = after === undefined ? FIRST : fromPlace(after)
    if (!from) throw new ChatError('invalid_cursor')
    const most = words ? MAX_READ : limit
    const read = await listRooms(ctx.db, actor.user_id, from, most + 1)
    const rows = read.slice(0, most).filter(({ title }) => !words || isCalled(words, title))
    const conversations = fit(rows.slice(0, limit).map(toRoom))
    const isCut = conversations.length < rows.length
    const last = isCut ? rows[conversations.length - 1] : read.length > most ? read[most - 1] : undefined
    return { conversations, ...(last && { next_after: toPlace(last) }) }
  },
})

const FIRST: RoomPlace = { title_key: '', id: '' }

const toPlace = ({ title_key, id }: RoomPlace): string =>
  Buffer.from(JSON.stringify([title_key, id])).toString('base64url')

function fromPlace(cursor: string): RoomPlace | undefined {
  try {
    const [title_key, id] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[]
    return typeof title_key === 'string' && typeof id === 'string' ? { title_key, id } : undefined
  } catch {
    return undefined
  }
}

function toRoom({
  id,
  title,
  topic,
  icon,
  visibility,
  policy,
  participant_count,
  joined,
  frozen_at,
}: RoomRow): PublicRoom {
  return {
    id,
    title,
    ...(topic && { topic }),
    ...(icon && { icon }),
    visibility,
    join: joinPolicyOf(policy),
    participant_count,
    joined: joined === 1,
    ...(frozen_at !== null && { frozen_at: toInstant(frozen_at) }),
  }
}

/** How often a user may join rooms at once, and later within an hour. */
const JOINS_PER_HOUR = 30

/**
 * Makes the actor a participant of a conversation that anyone may join, as `member`; for a participant nothing changes. No
 * user is notified.
 *
 * @throws ChatError `not_found` for a private one; `forbidden` for a user who may not browse or write, by the policy, and by
 *   the hook; `conflict` for a frozen one; `rate_limited` beyond {@link JOINS_PER_HOUR}
 */
export const join = useCase({
  takes: ['actor', 'conversation_id'],
  errors: ['not_found', 'forbidden', 'conflict', 'rate_limited', 'unavailable'],
  run: async (ctx, actor, conversation_id): Promise<CreatedConversation> => {
    assertPerson(actor)
    assertMayWrite(ctx.access, actor)
    assertServiceRight(ctx.access, actor, 'browse')
    if (!(await findMembership(ctx.db, conversation_id, actor.user_id))) await add(ctx, actor, conversation_id)
    return { conversation_id, conversation: await get.run(ctx, actor, conversation_id) }
  },
})

async function add(ctx: Context, actor: Actor, conversation_id: string): Promise<void> {
  const { user_id } = actor
  await assertJoinedByAnyone(ctx.db, conversation_id)
  if (ctx.host.hooks.beforeJoin) await reviewJoin(ctx, { actor, conversation_id, user_id, role: 'member' })
  const rate = { requests_per_second: JOINS_PER_HOUR / 3600, burst: JOINS_PER_HOUR }
  const { allowed, retry_after_seconds = 1 } = await takeShared(ctx.db, `joins:${user_id}`, ctx.now(), rate)
  if (!allowed) throw new ChatError('rate_limited', { retry_after_seconds })
  const hasJoined = await ctx.write(async (tx) => {
    const at = await lockAsSystem(ctx, tx, conversation_id)
    if (at === undefined) throw new ChatError('not_found')
    await assertJoinedByAnyone(tx, conversation_id)
    await lockUser(tx, user_id)
    return addParticipant(tx, conversation_id, { user: { id: user_id }, role: 'member', at, by: byActor(actor) })
  })
  if (hasJoined) await ctx.streams.presence.introduce(conversation_id, user_id)
}

/** Refuses a conversation that no user may join. @throws ChatError `not_found`, `forbidden`, `conflict` */
export async function assertJoinedByAnyone(db: Queries, id: string): Promise<void> {
  const room = await findConversation(db, id)
  if (!room || room.visibility === null) throw new ChatError('not_found')
  const refused = refusalOfRoom(room)
  if (refused) throw toRefused(refused)
  if (isFull(room)) throw new ChatError('conflict', OF_TWO)
}

/**
 * Ends the actor's own participation.
 *
 * @throws ChatError `not_found`; `forbidden` for an owner with an API key; `last_owner`; `conflict` in a direct conversation
 */
export const leave = useCase({
  takes: ['actor', 'conversation_id'],
  errors: remove.errors,
  frees: 'half',
  run: (ctx, actor, conversationId): Promise<void> => {
    assertPerson(actor)
    return remove.run(ctx, actor, conversationId, actor.user_id)
  },
})
