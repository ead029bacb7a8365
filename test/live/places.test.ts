import { describe, expect, inject, it, onTestFinished } from 'vitest'
import type { News } from '../../lib/live/feed/feed-order.ts'
import { postgresOrder } from '../../lib/live/feed/postgres-order.ts'
import { appendEvents } from '../../lib/live/log/appending.ts'
import type { Database, Queries } from '../../lib/storage/database.ts'
import { type Sql, sql, statement } from '../../lib/storage/sql.ts'
import { copyPostgresDatabase } from '../support/databases.ts'
import { MEMORY } from '../support/memory.ts'
import { startCluster } from '../support/postgres.ts'
import { innerState, PASSWORD, startService, startThread, times } from '../support/service.ts'
import { openStream, signInByHand } from '../support/stream.ts'
import { withResolvers } from '../support/with-resolvers.ts'

const BEGIN = 'SELECT pg_current_xact_id()::text AS xid'

describe.skipIf(!inject('postgres_url'))('a place among the events of all conversations on PostgreSQL', () => {
  it('ends at the last event: a crash of the server may lose later transactions, and give their numbers to others', async () => {
    // A server of its own: unfinished may be transactions of other databases of a server, too.
    const cluster = (await startCluster(MEMORY, { autovacuum: 'off' }))!
    onTestFinished(() => cluster.stop())
    const service = await startService(cluster.url)
    onTestFinished(() => service.close())
    await startThread(service)
    await service.idle()
    const { db } = innerState(service)
    const order = postgresOrder(db)
    const place = await order.head()
    for (const _ of times(20, () => 0)) await db.get(sql`SELECT pg_current_xact_id()`)
    expect(await order.head()).toEqual(place)
    expect((await order.news(place, 10)).place).toEqual(place)
  })

  it('is no future one after the last events were deleted with their conversation', async () => {
    const { url, remove } = await copyPostgresDatabase()
    onTestFinished(remove)
    const service = await startService(url)
    onTestFinished(() => service.close())
    const { ada, grace, conversation_id } = await startThread(service)
    const { cookie } = await signInByHand(service.base_url, grace.email, PASSWORD)
    const before = await openStream(service.base_url, undefined, { cookie })
    const id = (await before.until('stream.ready')).at(-1)!.id!
    await before.close()
    await ada.conversations.remove(conversation_id)
    await innerState(service).db.run(sql`DELETE FROM events`)
    const after = await openStream(service.base_url, undefined, { cookie, last_event_id: id })
    const [ready] = await after.until('stream.ready')
    expect(ready!.event.payload).toMatchObject({ resumed: true })
    await after.close()
  })

  it('has the first events of a conversation, also when many transactions are unfinished between them', async () => {
    const { url, remove } = await copyPostgresDatabase()
    onTestFinished(remove)
    const service = await startService(url)
    onTestFinished(() => service.close())
    const { conversation_id } = await startThread(service)
    await service.idle()
    const { db } = innerState(service)
    const events = [{ type: 'conversation.updated' as const }]
    const append = (tx: Queries) =>
      appendEvents(tx, [{ conversation_id, at: Date.now() * 1000, events, messages: 0, roots: 0 }])
    const begin = async (tx: Queries) => Number((await tx.get<{ xid: string }>(statement(BEGIN)))!.xid)
    const before = await postgresOrder(db).head()
    const [begun, released] = [withResolvers<void>(), withResolvers<void>()]
    const last = db.write(async (tx) => {
      await begin(tx)
      begun.resolve()
      await released.promise
      await append(tx)
    })
    await begun.promise
    const others = (await Promise.all(times(70, () => begin(db)))).sort((a, b) => a - b)
    await db.write(append)
    released.resolve()
    await last

    const get = async (sql: Sql) => {
      const row = await db.get<{ now: string }>(sql)
      return row && { ...row, now: `${others[0]}:${row.now.split(':')[1]}:${others}` }
    }
    const crowded = postgresOrder({ ...db, get: get as Database['get'] })
    const seqsOf = ({ rows }: News) => rows.map(([{ seq }]) => seq)
    expect(seqsOf(await crowded.news(before, 10))).toEqual([])
    const { place } = await crowded.news(await crowded.head(), 10)
    const seqs = seqsOf(await postgresOrder(db).news(before, 10))
    expect(seqs).toEqual([seqs[0], seqs[0]! + 1])
    expect(seqsOf(await postgresOrder(db).news(place as typeof before, 10))).toEqual(seqs)
  })
})
