import { contextOf } from '../../../lib/core/context-of.ts'
import { type Filling, fillConversation } from '../filled/conversation.ts'
import { cpuSeconds } from '../machine.ts'
import { type Bench, interleaveWarm, oncePerBench, type Round, type Row } from '../row.ts'
import { DATABASES } from '../servers/each-database.ts'
import { inRoomOf, type Room, type RoomOptions } from './reads.ts'

type Call = () => Promise<void>

/** A room whose database is measured as well. */
export interface MeasuredRoom extends Room {
  bench: Bench
  /** CPU of a call, and of the database for it, in milliseconds, and of its peer: called again and again, in turn. */
  compare: (call: Call, peer: Call) => Promise<Round[]>
}

/**
 * Rows that measure the library on each database, in the process of the benchmark.
 *
 * @param measure fills the database. @returns the rounds of each row, by its name
 * @param options of the service in the process
 */
export function libraryRows<Name extends string>(
  rows: readonly (Omit<Row, 'name' | 'measure' | 'unavailable'> & { name: Name })[],
  measure: (room: MeasuredRoom) => Promise<Record<Name, Round[]>>,
  options: RoomOptions = {},
): Row[] {
  return DATABASES.flatMap(({ suffix, on, unavailable, open }) => {
    const once = oncePerBench((bench) =>
      open((database, pids) =>
        inRoomOf(
          database,
          (room) => {
            const cpu = (call: Call) => cpuMillis(bench, pids, call)
            const compare = (call: Call, peer: Call) =>
              interleaveWarm(
                bench.rounds,
                () => cpu(call),
                () => cpu(peer),
              )
            return measure({ ...room, bench, compare })
          },
          options,
        ),
      ),
    )
    return rows.map((row) => ({
      ...row,
      name: row.name + suffix,
      title: row.title + on,
      unavailable,
      measure: async (bench: Bench) => (await once(bench))[row.name],
    }))
  })
}

/** For the length of a round: other programs disturb that less than how long a call takes. */
async function cpuMillis({ seconds }: Bench, pids: number[], call: Call): Promise<number> {
  const used = () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e3 + pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0) * 1e3
  }
  const before = used()
  const end = performance.now() + seconds * 1000
  let calls = 0
  for (; performance.now() < end; calls++) await call()
  return (used() - before) / calls
}

/**
 * Fills another conversation of the author, the reader and the followers.
 *
 * @param n tells it from others of the database
 * @param others participants who follow nothing
 */
export async function addFilled(
  { chat, author, reader }: Room,
  n: number,
  shape: Pick<Filling, 'threads' | 'replies' | 'followers' | 'quotes'>,
  others: readonly string[] = [],
): Promise<Filling> {
  const { conversation_id } = await chat.conversations.create(author, { title: `Filled ${n}` })
  for (const user_id of new Set([reader.user_id, ...(shape.followers ?? []), ...others]))
    await chat.participants.add(author, conversation_id, { user_id })
  const since = (Date.now() + 1_000) * 1_000
  const filling = { ...shape, n, conversation_id, author: author.user_id, since }
  await fillConversation(contextOf(chat).db, filling)
  return filling
}
