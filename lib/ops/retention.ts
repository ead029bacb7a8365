import { deleteExpiredKeys } from '../accounts/api-keys/store.ts'
import { deleteEntriesBefore } from '../accounts/audit/store.ts'
import { deleteExpiredVerifications } from '../accounts/email-addresses/store.ts'
import { deleteExpiredRequests } from '../accounts/email-requests/store.ts'
import { deleteExpiredStates } from '../accounts/oauth/store.ts'
import { deleteExpiredResets } from '../accounts/password-resets/store.ts'
import { deleteExpiredDevices } from '../accounts/passwords/known-devices.ts'
import { deleteOldFailures } from '../accounts/passwords/store.ts'
import { deleteSessionsBefore } from '../accounts/sessions/store-list.ts'
import { deleteInvitesBefore } from '../chat/invites/store.ts'
import { deleteKeysBefore } from '../chat/messages/idempotency.ts'
import { type InboxRound, pruneInboxes } from '../chat/notifications/expiring.ts'
import type { Context } from '../context.ts'
import { DAY, SECOND } from '../core/time.ts'
import { deleteDryBuckets } from '../limits/buckets.ts'
import { deleteEventsBefore } from '../live/log.ts'
import { deleteRevocationsBefore } from '../live/revocations.ts'
import type { Queries } from '../storage/database.ts'
import { inPages } from '../tasks/batches.ts'
import { deleteLeftovers } from './probe.ts'

/**
 * The number of rows deleted at a time: other writers run in between, and the event loop is blocked for milliseconds
 * only.
 */
const BATCH = 500

const HOUR = 3_600 * SECOND

/**
 * How long expired rows are kept: for a session the service can then return `session_expired`, for an invite the reason
 * for its refusal, and a key stays in the list. Used-up and revoked invites expire as well, so the time counts from
 * there.
 */
const REMEMBERED = 30 * DAY

/** Deletes up to a number of expired rows. @returns the number of rows deleted */
type Prune = (ctx: Context, tx: Queries, limit: number) => Promise<number>

/** How many rows of each kind were deleted. */
export interface Pruned {
  events: number
  revocations: number
  sessions: number
  invites: number
  api_keys: number
  password_resets: number
  email_verifications: number
  email_requests: number
  oauth_states: number
  limit_buckets: number
  login_failures: number
  known_devices: number
  idempotency_keys: number
  notifications: number
  probes: number
  audit_entries: number
}

/** What is kept for a time only, by what it is. */
const PRUNES: Record<Exclude<keyof Pruned, 'notifications'>, Prune> = {
  events: ({ config, now }, tx, limit) =>
    deleteEventsBefore(tx, now() - config.sse.replay_retention_hours * HOUR, limit),
  // A process that was away for longer looks up all rights.
  revocations: ({ now }, tx, limit) => deleteRevocationsBefore(tx, now() - 10 * 60 * SECOND, limit),
  sessions: ({ now }, tx, limit) => deleteSessionsBefore(tx, now() - REMEMBERED, limit),
  invites: ({ now }, tx, limit) => deleteInvitesBefore(tx, now() - REMEMBERED, limit),
  api_keys: ({ now }, tx, limit) => deleteExpiredKeys(tx, now() - REMEMBERED, limit),
  password_resets: ({ now }, tx, limit) => deleteExpiredResets(tx, now(), limit),
  email_verifications: ({ now }, tx, limit) => deleteExpiredVerifications(tx, now(), limit),
  email_requests: ({ now }, tx, limit) => deleteExpiredRequests(tx, now(), limit),
  oauth_states: ({ now }, tx, limit) => deleteExpiredStates(tx, now(), limit),
  limit_buckets: ({ now }, tx, limit) => deleteDryBuckets(tx, now(), limit),
  login_failures: ({ now }, tx, limit) => deleteOldFailures(tx, now(), limit),
  known_devices: ({ now }, tx, limit) => deleteExpiredDevices(tx, now(), limit),
  idempotency_keys: ({ now }, tx, limit) => deleteKeysBefore(tx, now(), limit),
  probes: ({ now }, tx, limit) => deleteLeftovers(tx, now(), limit),
  audit_entries: async ({ config, now }, tx, limit) => {
    const { retention_days } = config.audit
    return retention_days === false ? 0 : deleteEntriesBefore(tx, now() - retention_days * DAY, limit)
  },
}

/**
 * Deletes all expired rows in small batches, one kind after another: SQLite would put batches that wait together into
 * one commit.
 */
export async function prune(ctx: Context): Promise<Pruned> {
  return pruneWith(ctx, await pruneInboxes(ctx))
}

/** The same with some of the inboxes only: those at which earlier calls have not looked. */
export async function pruneSome(ctx: Context, inboxes: InboxRound): Promise<Pruned> {
  return pruneWith(ctx, await pruneInboxes(ctx, inboxes))
}

async function pruneWith(ctx: Context, notifications: number): Promise<Pruned> {
  const pruned: Partial<Pruned> = { notifications }
  for (const [kind, each] of Object.entries(PRUNES)) pruned[kind as keyof Pruned] = await pruneAll(ctx, each)
  return pruned as Pruned
}

function pruneAll(ctx: Context, each: Prune): Promise<number> {
  const page = (limit: number) => ctx.write((tx) => each(ctx, tx, limit))
  // The remaining rows wait for the next start: a stop must not wait for them.
  return inPages(ctx.db, BATCH, page, ctx.hub.isDraining)
}
