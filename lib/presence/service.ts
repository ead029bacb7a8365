import type { Actor, Context } from '../context.ts'
import type { Presence } from '../conversations/schema.ts'
import { listConversationIds } from '../conversations/store.ts'
import { toInstant } from '../ids.ts'
import { Heartbeat } from './schema.ts'

/** What each use-case takes last. */
export const inputs = { heartbeat: Heartbeat }

/** Who has not been heard of for so long is offline, unless a stream is open. */
const LAPSE_SECONDS = 60

/** Says that the actor is there, to all who share a conversation with it. */
export async function heartbeat(ctx: Context, actor: Actor, input: Heartbeat): Promise<void> {
  const presence: Presence = { status: input.status, last_seen_at: toInstant(ctx.now()) }
  await ctx.kv.set(keyOf(actor.user_id), presence, LAPSE_SECONDS)
  const event = { type: 'presence.update' as const, payload: { user_id: actor.user_id, ...presence } }
  for (const id of await listConversationIds(ctx.db, actor.user_id)) ctx.hub.announce(id, event)
}

/** Whether a user is there: what it said last, else whether it has a stream open. */
export async function findPresence(ctx: Context, userId: string): Promise<Presence> {
  const said = await ctx.kv.get<Presence>(keyOf(userId))
  return said ?? { status: ctx.hub.countStreams(userId) > 0 ? 'online' : 'offline' }
}

function keyOf(userId: string): string {
  return `presence/${userId}`
}
