import type { Context } from '../context.ts'
import { assertAdmin } from '../core/actor.ts'
import { toInstant } from '../core/time.ts'
import { SECOND } from '../core/units.ts'
import { useCase } from '../core/use-case.ts'
import { BUILD } from '../core/version.ts'
import { type NodePlace, toDetails } from './details.ts'
import type { NodeList } from './schema.ts'
import { listNodes, type NodeRow } from './store.ts'

/** The maximum number of processes in a list. */
const MAX_NODES = 1_000

/**
 * The running processes that share the database, first started first, at most 1,000.
 *
 * @throws ChatError `forbidden`
 */
export const list = useCase({
  takes: ['actor'],
  run: async (ctx, actor): Promise<NodeList> => {
    assertAdmin(actor)
    const rows = await findNodes(ctx)
    return {
      nodes: rows.map(({ id, version, started_at, beat_at, streams, details }) => ({
        id,
        version,
        ...placeOf(details),
        started_at: toInstant(started_at),
        beat_at: toInstant(beat_at),
        streams,
        ...(id === ctx.cluster.id && { self: true as const }),
      })),
    }
  },
})

/** Without the digests of its configuration, which no response has. */
function placeOf(details: string | null): Partial<NodePlace> {
  const { values: _, schema: __, reviews: ___, ...place } = toDetails(details) ?? {}
  return place
}

async function findNodes(ctx: Context): Promise<NodeRow[]> {
  const { cluster, config } = ctx
  const { db, usesSignalFile } = cluster
  const find = () => listNodes(db, config.cluster.dead_seconds * SECOND, MAX_NODES)
  if (cluster.isShared && !usesSignalFile) return find()
  // A file that cannot be used, or does not exist yet, is no failure: the process is then alone.
  const rows = cluster.isInitialised() ? await find().catch(() => []) : []
  return rows.some(({ id }) => id === cluster.id) ? rows : [...rows, ...listThisProcess(ctx)]
}

function listThisProcess({ cluster, streams: { hub }, now }: Context): NodeRow[] {
  const started_at = cluster.startedAt()
  // A command beside the service is no node.
  if (started_at === undefined) return []
  return [
    {
      id: cluster.id,
      version: BUILD,
      started_at,
      beat_at: now(),
      streams: hub.size(),
      details: JSON.stringify(cluster.details.place()),
      files: null,
    },
  ]
}
