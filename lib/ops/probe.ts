import { byActor } from '../accounts/audit/rules.ts'
import { insertSession } from '../accounts/sessions/store.ts'
import { hasUsers, insertUser, PROBE_DOMAIN } from '../accounts/users/store.ts'
import { insertConversation, insertParticipant, updateTitle } from '../chat/conversations/store.ts'
import type { Context } from '../context.ts'
import { type Actor, assertAdmin } from '../core/actor.ts'
import { digest, newToken } from '../core/ids.ts'
import { SECOND } from '../core/time.ts'
import type { Queries } from '../storage/database.ts'

/** A stranger in a conversation of its own, by whom a running service can be tried from outside. */
export interface Probe {
  conversation_id: string
  /** Of its session. */
  token: string
  /** Has one event go out in the conversation: `conversation.updated`. */
  nudge(): Promise<void>
  /** Takes everything back but the line in the audit log; streams of it close. Again, it does nothing. */
  remove(): Promise<void>
}

/** The session ends by itself after so long: a trial takes seconds, and whoever began it may have been killed. */
const LIFETIME_SECONDS = 120

/** More than anybody leaves behind. */
const MANY = 100

/**
 * Makes a probe: a user who may only read, in one conversation with nobody else in it. So nobody sees it come and go, as
 * they would a session of theirs. What an earlier one left behind goes with it, or by {@link deleteLeftovers}.
 *
 * @returns `undefined` while nobody is set up: the first user must not be this one
 * @throws ChatError `forbidden`
 */
export async function probe(ctx: Context, actor: Actor): Promise<Probe | undefined> {
  assertAdmin(actor)
  const [user_id, conversation_id, token, now] = [ctx.id(), ctx.id(), newToken(), ctx.now()]
  const name = `doctor-${user_id}`
  const until = now + LIFETIME_SECONDS * SECOND
  const made = await ctx.write(async (tx) => {
    if (!(await hasUsers(tx))) return false
    await deleteLeftovers(tx, now, MANY)
    await insertUser(tx, {
      id: user_id,
      email: `${name}@${PROBE_DOMAIN}`,
      email_verified_at: null,
      username: name,
      display_name: null,
      roles: 'read_only',
      password_hash: null,
      disabled_at: null,
      created_at: now,
    })
    await insertSession(tx, {
      id: ctx.id(),
      user_id,
      token_hash: digest(token),
      csrf_hash: digest(newToken()),
      issued_at: now,
      confirmed_at: now,
      last_seen_at: now,
      idle_expires_at: until,
      absolute_expires_at: until,
      user_agent: 'chat-server doctor',
      ip: null,
    })
    await insertConversation(tx, { id: conversation_id, title: '', is_group: 0, created_at: now })
    await insertParticipant(tx, conversation_id, { user_id, role: 'owner', joined_at: now })
    tx.audit({ act: 'doctor.probed', ...byActor(actor), subject_id: user_id })
    return true
  })
  if (!made) return undefined
  return {
    conversation_id,
    token,
    nudge: () =>
      ctx.write(async (tx) => {
        await updateTitle(tx, conversation_id, 'Nudged')
        tx.emit(conversation_id, { type: 'conversation.updated' })
      }),
    remove: () =>
      ctx.write(async (tx) => {
        await removeProbe(tx, user_id)
        tx.recheckStreams()
      }),
  }
}

/** Takes back up to `limit` probes that nobody has taken back in time. @returns how many it were */
export async function deleteLeftovers(tx: Queries, now: number, limit: number): Promise<number> {
  const rows = await tx.all<{ id: string }>(
    `SELECT id FROM users
      WHERE email_key >= 'doctor-' AND email_key < 'doctor.' AND email_key LIKE '%@${PROBE_DOMAIN}'
        AND roles = 'read_only' AND password_hash IS NULL AND created_at < ?
      LIMIT ?`,
    now - LIFETIME_SECONDS * SECOND,
    limit,
  )
  for (const { id } of rows) await removeProbe(tx, id)
  return rows.length
}

/**
 * By the primary keys and `participations_of_user`; the rest goes with them. Somebody may have added it to a conversation
 * of theirs: that one stays.
 */
async function removeProbe(tx: Queries, userId: string): Promise<void> {
  await tx.run(
    `DELETE FROM conversations WHERE id IN (
       SELECT conversation_id FROM participants mine WHERE user_id = ? AND NOT EXISTS (
         SELECT 1 FROM participants other
          WHERE other.conversation_id = mine.conversation_id AND other.user_id <> mine.user_id))`,
    userId,
  )
  await tx.run('DELETE FROM users WHERE id = ?', userId)
}
