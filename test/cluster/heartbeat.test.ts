import { afterEach, expect, it, vi } from 'vitest'
import { createNodeHeartbeat } from '../../lib/cluster/heartbeat.ts'
import { insertNode, removeDead, removeNode } from '../../lib/cluster/store.ts'
import { listPresence, upsertPresence } from '../../lib/cluster/store-presence.ts'
import { createClock } from '../../lib/core/clock.ts'
import { currentMicros } from '../../lib/core/time.ts'
import { MINUTE } from '../../lib/core/units.ts'
import { openStorage, type Storage } from '../../lib/index.ts'
import { type Sql, sql } from '../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../support/databases.ts'

describeOnEachDatabase('a process that reports that it lives', (openUrl, dialect) => {
  const storages: Storage[] = []
  afterEach(async () => {
    vi.restoreAllMocks()
    for (const storage of storages.splice(0)) await storage.close()
  })

  async function open(url?: string) {
    const storage = await openStorage({ database: url ?? (await openUrl()) })
    storages.push(storage)
    return storage.signals ?? storage.db
  }
  type Db = Awaited<ReturnType<typeof open>>

  /** A process; `told` returns the users of its signals. */
  function start(db: Db, id: string, renew = async () => {}) {
    const neighbour = { countStreams: () => 0, unheardFor: () => 0, reconsider() {}, renew }
    const beat = createNodeHeartbeat(id, {
      clock: createClock({ held: currentMicros, isShared: false }, { stepped() {}, trusted() {} }),
      ...{
        db,
        peerHandler: neighbour,
        noteDetails: async () => {},
        filesState: () => undefined,
        config: { cluster: { beat_seconds: 2, dead_seconds: 10, instance: '' } },
      },
    })
    const told = async () => {
      const rows = await db.all<{ body: string }>(sql`SELECT body FROM signals WHERE node_id = ${id}`)
      return rows.flatMap(({ body }) => JSON.parse(body).user_ids as string[]).sort()
    }
    return { beat, told }
  }
  const see = (db: Db, node_id: string, user_id: string, age: number) =>
    upsertPresence(db, node_id, [
      { user_id, streams: 1, since_age: age, status: null, status_age: null, seen_age: age, stalled_age: null },
    ])
  const listNodes = async (db: Db) => (await db.all<{ id: string }>(sql`SELECT id FROM nodes`)).map(({ id }) => id)

  it('adds its row again before its users, and these at the next beat if that fails', async () => {
    const db = await open()
    const found: string[][] = []
    let isFailing = true
    const { beat } = start(db, 'woken', async () => {
      found.push(await listNodes(db))
      if (isFailing) throw new Error('The database does not respond')
    })
    await expect(beat()).rejects.toThrow('does not respond')
    isFailing = false
    await beat()
    await beat()
    expect(found).toEqual([['woken'], ['woken']])
  })

  it('keeps the users of another that has no row yet, however long they have been there', async () => {
    const db = await open()
    await see(db, 'woken', 'ada', 60 * MINUTE)
    expect(await removeDead(db, { deadAfter: 10_000_000, remembered: MINUTE, announce: async () => {} })).toEqual([])
    await insertNode(db, 'woken', '1.0.0')
    expect(await listPresence(db, 'another', ['ada'])).toMatchObject([{ streams: 1, left_age: null }])
  })

  it('removes others only when they have had time for a report since it could last not reach the database', async () => {
    const db = await open()
    await insertNode(db, 'other', '1.0.0')
    await see(db, 'other', 'ada', MINUTE)
    const { beat, told } = start(db, 'here')
    let late = 0
    const now = performance.now.bind(performance)
    vi.spyOn(performance, 'now').mockImplementation(() => now() + late)
    await beat()
    await db.run(sql`UPDATE nodes SET beat_at = beat_at - 12000000`)
    late += 12_000
    await beat()
    expect(await told()).toEqual([])
    expect(await listNodes(db)).toEqual(expect.arrayContaining(['here', 'other']))
    for (let beats = 0; beats < 5; beats++) {
      late += 2_001
      await beat()
    }
    expect(await told()).toEqual(['ada'])
    expect(await listNodes(db)).toEqual(['here'])
  })

  /** A user without a stream, who has set a status `age` ago. */
  const hear = (db: Db, node_id: string, user_id: string, age: number) =>
    upsertPresence(db, node_id, [
      { user_id, streams: 0, since_age: null, status: 'away', status_age: age, seen_age: age, stalled_age: null },
    ])

  it('tells of those users of one that has ended whose presence may differ now', async () => {
    const db = await open()
    const { beat, told } = start(db, 'here')
    await beat()
    await insertNode(db, 'dead', '1.0.0')
    await db.run(sql`UPDATE nodes SET beat_at = 0 WHERE id = 'dead'`)
    await see(db, 'dead', 'with a stream', 60 * MINUTE)
    await hear(db, 'dead', 'with a status', MINUTE / 2)
    await hear(db, 'dead', 'who has left', 2 * MINUTE)
    await hear(db, 'dead', 'with a stream elsewhere', 2 * MINUTE)
    await see(db, 'here', 'with a stream elsewhere', 3 * MINUTE)
    await beat()
    expect(await told()).toEqual(['with a status', 'with a stream', 'with a stream elsewhere'])
  })

  it('tells of those users of one that has died who had left a moment before: it may not have told itself', async () => {
    const db = await open()
    const { beat, told } = start(db, 'here')
    await beat()
    await insertNode(db, 'dead', '1.0.0')
    await db.run(sql`UPDATE nodes SET beat_at = 0 WHERE id = 'dead'`)
    for (const [user_id, seen_age] of [
      ['of just now', MINUTE / 4],
      ['of before', 2 * MINUTE],
    ] as const) {
      const nothing = { streams: 0, since_age: null, status: null, status_age: null, stalled_age: null }
      await upsertPresence(db, 'dead', [{ user_id, ...nothing, seen_age }])
    }
    await beat()
    expect(await told()).toEqual(['of just now'])
  })

  it('publishes the users of one that it has removed also if it did not get to know that the removal succeeded', async () => {
    const db = await open()
    await insertNode(db, 'dead', '1.0.0')
    await see(db, 'dead', 'ada', MINUTE)
    let isLost = false
    const write: Db['write'] = async (work, options) => {
      const value = await db.write(work, options)
      if (isLost) throw new Error('The connection was lost')
      return value
    }
    let renewals = 0
    const { beat } = start({ ...db, write }, 'here', async () => void renewals++)
    await beat()
    await db.run(sql`UPDATE nodes SET beat_at = 0 WHERE id = 'dead'`)
    renewals = 0
    isLost = true
    await expect(beat()).rejects.toThrow('was lost')
    expect(await listNodes(db)).toEqual(['here'])
    isLost = false
    await beat()
    await beat()
    expect(renewals).toBe(1)
  })

  it('tells of the users with a stream, and of no others, in the transaction in which it stops', async () => {
    const url = await openUrl()
    const [db, dying] = [await open(url), await open(url)]
    await insertNode(db, 'here', '1.0.0')
    await see(db, 'here', 'ada', MINUTE)
    await hear(db, 'here', 'grace', 2 * MINUTE)
    const told: string[] = []
    const tell = async (_: unknown, userIds: string[]) => void told.push(...userIds)
    const fails = async () => {
      throw new Error('The process was killed')
    }
    await expect(removeNode(dying, 'here', fails)).rejects.toThrow('was killed')
    expect(await listNodes(db)).toEqual(['here'])
    await removeNode(db, 'here', tell)
    expect([told, await listNodes(db)]).toEqual([['ada'], []])
  })

  it('forgets the users of a day ago that have no stream', async () => {
    const db = await open()
    const { beat } = start(db, 'here')
    const day = 24 * 60 * MINUTE
    await hear(db, 'here', 'of today', day - MINUTE)
    await hear(db, 'here', 'of yesterday', day + MINUTE)
    await see(db, 'here', 'here since yesterday', day + MINUTE)
    for (let beats = 0; beats < 30; beats++) await beat()
    const rows = await db.all<{ user_id: string }>(sql`SELECT user_id FROM node_presence ORDER BY user_id`)
    expect(rows.map(({ user_id }) => user_id)).toEqual(['here since yesterday', 'of today'])
  })

  it('forgets the users of one that has stopped, a minute later, and tells of those whose status it had', async () => {
    const db = await open()
    const { beat, told } = start(db, 'here')
    await beat()
    await see(db, 'here', 'ada', 3 * MINUTE)
    for (const node of ['stopped', 'stopped just now']) {
      await insertNode(db, node, '1.0.0')
      await hear(db, node, 'ada', 2 * MINUTE)
      await see(db, node, 'grace', MINUTE)
      await removeNode(db, node, async () => {})
    }
    await db.run(sql`UPDATE node_presence SET left_at = left_at - ${MINUTE} WHERE node_id = 'stopped'`)
    for (let beats = 0; beats < 30; beats++) await beat()
    const rows = await db.all(sql`SELECT node_id, user_id FROM node_presence ORDER BY node_id, user_id`)
    expect(rows.map(Object.values)).toEqual([
      ['here', 'ada'],
      ['stopped just now', 'ada'],
      ['stopped just now', 'grace'],
    ])
    expect(await told()).toEqual(['ada'])
  })

  /** The statements about users of `removeDead`. */
  async function statementsOf(db: Db): Promise<Sql[]> {
    const statements: Sql[] = []
    const write: Db['write'] = (work, options) =>
      db.write((tx) => {
        const all: typeof tx.all = (statement) => {
          if (statement.text.includes('node_presence')) statements.push(statement)
          return tx.all(statement)
        }
        return work({ ...tx, all })
      }, options)
    await removeDead({ ...db, write }, { deadAfter: 10_000_000, remembered: MINUTE, announce: async () => {} })
    return statements
  }

  it('finds the users of one that has died by index, and looks for none while all others live', async () => {
    const db = await open()
    const people = Array.from({ length: 5_000 }, (_, index) => `${index}`)
    const seen = { streams: 1, since_age: 0, status: null, status_age: null, seen_age: 0, stalled_age: null }
    for (const node of ['living', 'dead']) await insertNode(db, node, '1.0.0')
    await upsertPresence(
      db,
      'living',
      people.map((user_id) => ({ user_id, ...seen })),
    )
    await see(db, 'dead', 'ada', MINUTE)
    expect(await statementsOf(db)).toEqual([])
    await db.run(sql`UPDATE nodes SET beat_at = 0 WHERE id = 'dead'`)
    const [deletion, ...further] = await statementsOf(db)
    expect(further).toEqual([])
    const explain = dialect === 'sqlite' ? sql`EXPLAIN QUERY PLAN` : sql`EXPLAIN`
    const plan = JSON.stringify(await db.all(sql`${explain} ${deletion!}`))
    expect(plan).toContain('node_presence_by_node')
    // Of `o`, which has the other rows of these users, it may read all: only then.
    expect(plan).not.toMatch(/Seq Scan on node_presence (?!o )|SCAN node_presence/)
    expect(await listPresence(db, 'living', ['ada'])).toEqual([])
  })

  it('removes no process without telling the others of its users', async () => {
    const url = await openUrl()
    const [db, dying] = [await open(url), await open(url)]
    await insertNode(db, 'dead', '1.0.0')
    await db.run(sql`UPDATE nodes SET beat_at = 0`)
    await see(db, 'dead', 'ada', MINUTE)
    const tell = async () => {
      throw new Error('The process has died')
    }
    await expect(removeDead(dying, { deadAfter: 10_000_000, remembered: MINUTE, announce: tell })).rejects.toThrow(
      'has died',
    )
    expect(await listNodes(db)).toEqual(['dead'])
    const { beat, told } = start(db, 'here')
    await beat()
    expect(await told()).toEqual(['ada'])
  })
})
