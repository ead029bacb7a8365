import { deleteExpiredKeys } from '../accounts/api-keys/store.ts'
import { deleteEntriesBefore } from '../accounts/audit/store.ts'
import { deleteExpiredVerifications } from '../accounts/email-addresses/store.ts'
import { deleteOldGrants, deleteUnusedCodes, deleteUnusedGrants } from '../accounts/grants/store.ts'
import { deleteExpiredRequests } from '../accounts/mails/store.ts'
import { deleteExpiredStates } from '../accounts/oauth/store.ts'
import { MAX_STALE_AGE, UNUSED_AGE } from '../accounts/oauth-clients/rules.ts'
import {
  deleteExpiredAssertions,
  deleteOldDocuments,
  deleteOldRegistrations,
  deleteUnusedRegistrations,
} from '../accounts/oauth-clients/store.ts'
import { deleteExpiredResets } from '../accounts/password-resets/store.ts'
import { deleteOldFailures } from '../accounts/passwords/store.ts'
import { deleteExpiredDevices } from '../accounts/passwords/store-devices.ts'
import { deleteExpiredServerKeys } from '../accounts/server-keys/store.ts'
import { deleteSessionsBefore } from '../accounts/sessions/store-list.ts'
import { deleteTokenFloorsBefore } from '../accounts/users/store-deleting.ts'
import { deleteInvocationsBefore, KEPT } from '../chat/commands/store.ts'
import { deleteInvitesBefore } from '../chat/invites/store.ts'
import { deleteKeysBefore } from '../chat/messages/store-idempotency.ts'
import { deleteUsageBefore } from '../chat/metering/store-removing.ts'
import { deleteExpiredNotices } from '../chat/notices/store.ts'
import { type InboxRound, pruneInboxes } from '../chat/notifications/expiring.ts'
import { type JwtConfig, MAX_TOKEN_SECONDS } from '../config/auth.ts'
import type { Context } from '../context.ts'
import type { Cutoff } from '../core/clock.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../core/units.ts'
import { findNeeded } from '../integrations/webhooks/needed.ts'
import { deleteUnverified } from '../integrations/webhooks/store.ts'
import { DELIVERED_AGE, deleteOldDeliveries } from '../integrations/webhooks/store-deliveries.ts'
import { deleteDryBuckets } from '../limits/store-buckets.ts'
import { deleteEventsBefore } from '../live/log/log.ts'
import { deleteRevocationsBefore } from '../live/log/revocations.ts'
import type { Queries } from '../storage/database.ts'
import type { Sql } from '../storage/sql.ts'
import { inPages } from '../tasks/batches.ts'
import { deleteLeftovers } from './probe.ts'

/**
 * The number of rows deleted at a time: other writers run in between, and the event loop is blocked for milliseconds
 * only.
 */
const BATCH = 500

/**
 * How long expired rows are kept: for a session the service can then return `session_expired`, for an invite the reason
 * for its refusal, and a key stays in the list. Used-up and revoked invites expire as well, so the time counts from
 * there.
 */
const REMEMBERED = 30 * DAY

/** Rows that are kept for a time only. */
interface Prune {
  /** How long they are kept, in microseconds; `undefined` for ever. */
  age: (ctx: Context) => number | undefined
  /** Deletes up to a number of those that are older. @returns the number of rows deleted */
  run: (tx: Queries, before: Cutoff, limit: number, isNeeded?: Sql) => Promise<number>
  /** The condition that a row stays in any case. */
  isNeeded?: (ctx: Context) => Promise<Sql | undefined>
}

/** How many rows of each kind were deleted. */
export interface Pruned {
  events: number
  revocations: number
  sessions: number
  invites: number
  api_keys: number
  server_keys: number
  grants: number
  old_grants: number
  grant_codes: number
  token_floors: number
  webhooks: number
  password_resets: number
  email_verifications: number
  email_requests: number
  oauth_states: number
  oauth_assertions: number
  oauth_documents: number
  oauth_registrations: number
  old_oauth_registrations: number
  limit_buckets: number
  login_failures: number
  known_devices: number
  idempotency_keys: number
  notices: number
  invocations: number
  notifications: number
  probes: number
  webhook_deliveries: number
  usage: number
  audit_entries: number
}

/** How long a webhook may be unverified. */
const UNVERIFIED_AGE = 7 * DAY

const always = (age: number) => () => age

/** The longest time for which a signed token is valid. */
const maxTokenSeconds = ({ issuer, max_seconds, leeway_seconds }: JwtConfig) =>
  issuer === undefined ? MAX_TOKEN_SECONDS : max_seconds + leeway_seconds

/** What is kept only for a time, by kind. */
const PRUNES: Record<Exclude<keyof Pruned, 'notifications'>, Prune> = {
  events: {
    age: ({ config }) => config.sse.replay_retention_hours * HOUR,
    run: deleteEventsBefore,
    isNeeded: findNeeded,
  },
  // A process that was away for longer looks up all rights.
  revocations: { age: always(10 * MINUTE), run: deleteRevocationsBefore },
  sessions: { age: always(REMEMBERED), run: deleteSessionsBefore },
  invites: { age: always(REMEMBERED), run: deleteInvitesBefore },
  api_keys: { age: always(REMEMBERED), run: deleteExpiredKeys },
  server_keys: { age: always(REMEMBERED), run: deleteExpiredServerKeys },
  grants: { age: ({ config }) => config.mcp.oauth.refresh_days * DAY, run: deleteUnusedGrants },
  old_grants: { age: ({ config }) => config.mcp.oauth.grant_days * DAY, run: deleteOldGrants },
  grant_codes: { age: always(0), run: deleteUnusedCodes },
  // Later, no token of before is valid. That a host verifies them itself, no configuration shows.
  token_floors: { age: ({ config }) => maxTokenSeconds(config.auth.jwt) * SECOND, run: deleteTokenFloorsBefore },
  // Their URLs have never returned a challenge.
  webhooks: { age: ({ config }) => (config.webhooks.enabled ? UNVERIFIED_AGE : undefined), run: deleteUnverified },
  password_resets: { age: always(0), run: deleteExpiredResets },
  email_verifications: { age: always(0), run: deleteExpiredVerifications },
  email_requests: { age: always(0), run: deleteExpiredRequests },
  oauth_states: { age: always(0), run: deleteExpiredStates },
  oauth_assertions: { age: always(0), run: deleteExpiredAssertions },
  // Older ones are not used without being read again.
  oauth_documents: { age: always(MAX_STALE_AGE), run: deleteOldDocuments },
  oauth_registrations: { age: always(UNUSED_AGE), run: deleteUnusedRegistrations },
  // An application whose user allows it nothing any more comes back under the id that it has.
  old_oauth_registrations: { age: always(90 * DAY), run: deleteOldRegistrations },
  limit_buckets: { age: always(0), run: deleteDryBuckets },
  login_failures: { age: always(0), run: deleteOldFailures },
  known_devices: { age: always(0), run: deleteExpiredDevices },
  notices: { age: always(0), run: deleteExpiredNotices },
  // A program may be far behind in the log, or its webhook is called again.
  invocations: {
    age: ({ config: { sse, webhooks } }) =>
      Math.max(KEPT, sse.replay_retention_hours * HOUR, webhooks.keep_hours * HOUR),
    run: deleteInvocationsBefore,
  },
  idempotency_keys: { age: always(0), run: deleteKeysBefore },
  probes: { age: always(0), run: deleteLeftovers },
  webhook_deliveries: { age: always(DELIVERED_AGE), run: deleteOldDeliveries },
  usage: {
    age: ({ config: { usage } }) => (usage.keep_days === false ? undefined : usage.keep_days * DAY),
    run: deleteUsageBefore,
  },
  audit_entries: {
    age: ({ config: { audit } }) => (audit.retention_days === false ? undefined : audit.retention_days * DAY),
    run: deleteEntriesBefore,
  },
}

/**
 * Deletes all expired rows in small batches, one kind after another: SQLite would put batches that wait together into
 * one commit. While the clock is not trusted, nothing.
 */
export async function prune(ctx: Context): Promise<Pruned> {
  return pruneWith(ctx, await pruneInboxes(ctx))
}

/** {@link prune} with only some of the inboxes: the ones that earlier calls have not checked. */
export async function pruneSome(ctx: Context, inboxes: InboxRound): Promise<Pruned> {
  return pruneWith(ctx, await pruneInboxes(ctx, inboxes))
}

async function pruneWith(ctx: Context, notifications: number): Promise<Pruned> {
  const pruned: Partial<Pruned> = { notifications }
  for (const [kind, each] of Object.entries(PRUNES)) pruned[kind as keyof Pruned] = await pruneAll(ctx, each)
  return pruned as Pruned
}

async function pruneAll(ctx: Context, { age, run, isNeeded }: Prune): Promise<number> {
  const kept = age(ctx)
  if (kept === undefined) return 0
  const page = async (limit: number) => {
    // Looked up for each page: the clock may step in between.
    const before = ctx.clock.before(kept)
    if (before === undefined) return 0
    const needed = await isNeeded?.(ctx)
    return ctx.write((tx) => run(tx, before, limit, needed))
  }
  // The remaining rows wait for the next start: a stop must not wait for them.
  return inPages(ctx.db, BATCH, page, ctx.streams.hub.isDraining)
}
