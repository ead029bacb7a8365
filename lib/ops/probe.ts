import { byActor } from '../accounts/audit/rules.ts'
import { insertSession } from '../accounts/sessions/store.ts'
import { PLACEHOLDER_DOMAINS } from '../accounts/users/rules.ts'
import { hasUsers, lockUsers } from '../accounts/users/store.ts'
import { insertUser } from '../accounts/users/store-naming.ts'
import { deleteParticipant, insertParticipant, listMemberships } from '../chat/memberships/store.ts'
import { insertConversation, NOT_DIRECT, updateConversation } from '../chat/memberships/store-conversations.ts'
import { lockConversation } from '../chat/memberships/store-locks.ts'
import type { Context } from '../context.ts'
import { type Actor, assertAdmin } from '../core/actor.ts'
import type { Cutoff } from '../core/clock.ts'
import { digest, newToken } from '../core/ids.ts'
import type { NamesOf } from '../core/known-names.ts'
import { SECOND } from '../core/units.ts'
import { assertKnown } from '../core/use-case.ts'
import type { Queries } from '../storage/database.ts'
import { literal, sql } from '../storage/sql.ts'

/** A temporary user in a conversation of its own, with which `doctor` tests a running service from outside. */
export interface Probe {
  user_id: string
  conversation_id: string
  /** The token of its session, and the one that its changes repeat. */
  token: string
  csrf_token: string
  /** Publishes one event in the conversation: `conversation.updated`. */
  nudge(): Promise<void>
  /** Deletes everything but the audit entries; its streams close. A second call does nothing. */
  remove(): Promise<void>
}

/** Options of a probe. */
export interface ProbeOptions {
  /** Whether it may upload a file, and not only read. */
  may_upload?: boolean
}

const PROBE_OPTIONS: NamesOf<ProbeOptions> = { may_upload: 0 }

/** The session expires by itself: a test takes seconds, and the process that started it may have been killed. */
const LIFETIME_SECONDS = 120

/** A test takes nothing of the reserve of a full disk. */
const TEST = { full_disk: 'refused' } as const

/** More leftover probes than can be expected. */
const MANY = 100

/**
 * Creates a probe: a user who may only read, or also upload files, alone in one conversation. So no other user gets
 * presence events of it, unlike of a session of a real user. Probes left by earlier runs are deleted with it, or by
 * {@link deleteLeftovers}.
 *
 * @returns `undefined` before set-up: the probe must not be the first user
 * @throws ChatError `forbidden`
 */
export async function probe(ctx: Context, actor: Actor, options: ProbeOptions = {}): Promise<Probe | undefined> {
  assertAdmin(actor)
  assertKnown(options, PROBE_OPTIONS)
  const [user_id, conversation_id, token, csrf_token] = [ctx.id(), ctx.id(), newToken(), newToken()]
  const now = ctx.now()
  const name = `doctor-${user_id}`
  const until = now + LIFETIME_SECONDS * SECOND
  const result = await ctx.write(async (tx) => {
    if (!(await hasUsers(tx))) return false
    const before = ctx.clock.before(0)
    if (before !== undefined) await deleteLeftovers(tx, before, MANY)
    await insertUser(tx, {
      id: user_id,
      email: `${name}@${PLACEHOLDER_DOMAINS.probe}`,
      email_verified_at: null,
      username: name,
      display_name: null,
      avatar_url: null,
      roles: options.may_upload ? 'member' : 'read_only',
      kind: 'person',
      password_hash: null,
      disabled_at: null,
      created_at: now,
    })
    await insertSession(tx, {
      id: ctx.id(),
      user_id,
      token_hash: digest(token),
      csrf_hash: digest(csrf_token),
      issued_at: now,
      confirmed_at: now,
      last_seen_at: now,
      idle_expires_at: until,
      absolute_expires_at: until,
      user_agent: 'chat-server doctor',
      ip: null,
    })
    await insertConversation(tx, {
      id: conversation_id,
      title: '',
      is_group: 0,
      ref: null,
      metadata: null,
      created_at: now,
      ...NOT_DIRECT,
    })
    await insertParticipant(tx, conversation_id, { user_id, role: 'owner', joined_at: now })
    tx.audit({ act: 'doctor.probed', ...byActor(actor), subject_id: user_id })
    return true
  }, TEST)
  if (!result) return undefined
  return {
    user_id,
    conversation_id,
    token,
    csrf_token,
    nudge: () =>
      ctx.write(async (tx) => {
        await updateConversation(tx, conversation_id, { title: 'Nudged' })
        tx.emit(conversation_id, { type: 'conversation.updated' })
      }, TEST),
    remove: () =>
      ctx.write(async (tx) => {
        await removeProbe(tx, user_id)
        tx.recheckStreams({ user_id })
      }),
  }
}

/** Deletes up to `limit` expired probes. @returns the number of probes deleted */
export async function deleteLeftovers(tx: Queries, now: Cutoff, limit: number): Promise<number> {
  const rows = await tx.all<{ id: string }>(
    sql`SELECT id FROM users
      WHERE email_key >= 'doctor-' AND email_key < 'doctor.'
          AND email_key LIKE ${literal(`%@${PLACEHOLDER_DOMAINS.probe}`)}
        AND roles IN ('read_only', 'member') AND password_hash IS NULL
            AND created_at < ${now - LIFETIME_SECONDS * SECOND}
      LIMIT ${limit}`,
  )
  for (const { id } of rows) await removeProbe(tx, id)
  return rows.length
}

/**
 * By the primary keys and `participations_of_user`; other rows are deleted by cascade. A user may have added the probe
 * to another conversation: that one is kept, without the probe.
 */
async function removeProbe(tx: Queries, userId: string): Promise<void> {
  await tx.run(
    sql`DELETE FROM conversations WHERE id IN (
       SELECT conversation_id FROM participants mine WHERE user_id = ${userId} AND NOT EXISTS (
         SELECT 1 FROM participants other
          WHERE other.conversation_id = mine.conversation_id AND other.user_id <> mine.user_id))`,
  )
  // Locked: no user adds the probe to a conversation before it is deleted: the cascade removes no counted participant.
  await lockUsers(tx, [userId], { admins: false })
  for (const { conversation_id } of await listMemberships(tx, userId)) {
    await lockConversation(tx, conversation_id)
    await deleteParticipant(tx, conversation_id, userId)
  }
  await tx.run(sql`DELETE FROM notifications WHERE user_id = ${userId}`)
  await tx.run(sql`DELETE FROM users WHERE id = ${userId}`)
}
