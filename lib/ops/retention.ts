import { setImmediate as nextTurn } from 'node:timers/promises'
import { deleteExpiredDevices } from '../auth/devices.ts'
import { deleteOldFailures } from '../auth/failures.ts'
import type { Context } from '../context.ts'
import { deleteEventsBefore } from '../events/store.ts'
import { SECOND } from '../ids.ts'
import { deleteExpiredKeys } from '../keys/store.ts'
import { deleteDryBuckets } from '../limits/buckets.ts'
import { deleteKeysBefore } from '../messages/idempotency.ts'
import { deleteExpiredStates } from '../oauth/store.ts'
import { deleteExpiredResets } from '../resets/store.ts'
import { deleteSessionsBefore } from '../sessions/store.ts'
import type { Queries } from '../storage/database.ts'

/** How many rows are deleted at a time: others write in between, and the event loop is held for milliseconds only. */
const BATCH = 500

const HOUR = 3_600 * SECOND

/** How long what has expired is remembered: a session answers `session_expired`, a key is still in the list. */
const REMEMBERED = 30 * 24 * HOUR

/** Deletes some rows, at most so many, that are kept no longer. @returns how many it were */
type Prune = (ctx: Context, tx: Queries, limit: number) => Promise<number>

/** What is kept for a time only, by what it is. */
const PRUNES = {
  events: ({ config, now }, tx, limit) =>
    deleteEventsBefore(tx, now() - config.sse.replay_retention_hours * HOUR, limit),
  sessions: ({ now }, tx, limit) => deleteSessionsBefore(tx, now() - REMEMBERED, limit),
  api_keys: ({ now }, tx, limit) => deleteExpiredKeys(tx, now() - REMEMBERED, limit),
  password_resets: ({ now }, tx, limit) => deleteExpiredResets(tx, now(), limit),
  oauth_states: ({ now }, tx, limit) => deleteExpiredStates(tx, now(), limit),
  limit_buckets: ({ now }, tx, limit) => deleteDryBuckets(tx, now(), limit),
  login_failures: ({ now }, tx, limit) => deleteOldFailures(tx, now(), limit),
  known_devices: ({ now }, tx, limit) => deleteExpiredDevices(tx, now(), limit),
  idempotency_keys: ({ now }, tx, limit) => deleteKeysBefore(tx, now(), limit),
} satisfies Record<string, Prune>

/** How many rows of each kind were deleted. */
export type Pruned = Record<keyof typeof PRUNES, number>

/** Deletes everything that is kept no longer, in small batches. */
export async function prune(ctx: Context): Promise<Pruned> {
  const pruned = Object.entries(PRUNES).map(async ([kind, each]) => [kind, await pruneAll(ctx, each)] as const)
  return Object.fromEntries(await Promise.all(pruned)) as Pruned
}

async function pruneAll(ctx: Context, each: Prune): Promise<number> {
  let total = 0
  for (;;) {
    const count = await ctx.write((tx) => each(ctx, tx, BATCH))
    total += count
    if (count < BATCH) return total
    await nextTurn()
  }
}
