import type { Context } from '../../context.ts'
import { SECOND } from '../../core/units.ts'
import { MIGRATIONS } from '../../storage/schema/migrations.ts'
import { inBatches } from '../../tasks/batches.ts'
import { lockConversation } from '../memberships/store-locks.ts'
import { readScopes } from '../notifications/scopes.ts'
import {
  findRecount,
  listNextParticipants,
  listNotified,
  type Recount,
  recountParticipants,
  setRecount,
} from './store-recounting.ts'

/** How long no older program must have been beside: one of several that stop, or that is started again. */
const SETTLED = 30 * SECOND

/** How often it is noted that one is still beside. */
const NOTED = 10 * SECOND

/** How long one run takes: a stop waits for it. */
const RUN_MS = 1_000

const BEGIN = { conversation_id: '', user_id: '' }

type Parts = Pick<Context, 'db' | 'write' | 'streams' | 'cluster' | 'now'>

/**
 * Counts anew what participants have read: once after an upgrade, and again when the last process of an older version has
 * stopped, which does not know all marks. The rest waits for the next run; processes take turns.
 */
export async function recountUnread(ctx: Parts): Promise<void> {
  // Where processes meet may be unreadable for a moment, which is reported by those that beat there.
  const isBeside = await ctx.cluster.hasOlderNode(MIGRATIONS.length).catch(() => undefined)
  if (isBeside === undefined) return
  const recount = await findRecount(ctx.db)
  const next = nextState(recount, { isBeside, now: ctx.now() })
  if (next !== recount) await ctx.db.write((tx) => setRecount(tx, next))
  if (!next.after) return
  const end = performance.now() + RUN_MS
  const isOver = () => performance.now() >= end || ctx.streams.hub.isDraining()
  await inBatches(isOver, (size) => recountSome(ctx, size), { smallest: 1 })
}

/** @returns the same state if nothing has changed */
function nextState(recount: Recount | undefined, { isBeside, now }: { isBeside: boolean; now: number }): Recount {
  const schema = MIGRATIONS.length
  const { older_at } = recount ?? {}
  if (isBeside) return recount && older_at !== undefined && now - older_at < NOTED ? recount : { schema, older_at: now }
  if (recount && older_at !== undefined) return now - older_at < SETTLED ? recount : { schema, after: BEGIN }
  // A later program has counted by its own rules.
  return recount && recount.schema >= schema ? recount : { schema, after: BEGIN }
}

/**
 * Counts for some participants of one conversation, and reads their notifications of threads, and of the direct
 * conversation, of which nothing is unread: an older process knows none. @returns as a batch
 */
function recountSome({ write, now }: Parts, size: number): Promise<number | undefined> {
  return write(async (tx) => {
    const began = performance.now()
    const { after, ...recount } = (await findRecount(tx, { lock: true }))!
    if (!after) return undefined
    const rows = await listNextParticipants(tx, after, size)
    const last = rows.at(-1)
    if (last && (await lockConversation(tx, last.conversation_id)) !== undefined) {
      const ids = rows.map(({ user_id }) => user_id)
      await recountParticipants(tx, last.conversation_id, ids)
      for (const reader of await listNotified(tx, last.conversation_id, ids))
        await readScopes(tx, reader, undefined, now())
    }
    await setRecount(tx, { ...recount, ...(last && { after: last }) })
    return last && performance.now() - began
  })
}
