import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { contextOf } from '../../lib/core/context-of.ts'
import { postgresOrder } from '../../lib/live/postgres-order.ts'
import { createPostgresDatabase } from '../support/databases.ts'
import { PASSWORD, startService, startThread, times } from '../support/service.ts'
import { openStream, signInByHand } from '../support/stream.ts'

describe.skipIf(!inject('postgres_url'))('a place among the events of all conversations on PostgreSQL', () => {
  it('ends at the last event: a crash of the server may lose later transactions, and give their numbers to others', async () => {
    const { url, remove } = await createPostgresDatabase()
    onTestFinished(remove)
    const service = await startService(url)
    onTestFinished(() => service.close())
    await startThread(service)
    await service.idle()
    const { db } = contextOf(service.chat)
    const order = postgresOrder(db)
    const place = await order.head()
    for (const _ of times(20, () => 0)) await db.get('SELECT pg_current_xact_id()')
    expect(await order.head()).toEqual(place)
    expect((await order.news(place, 10)).place).toEqual(place)
  })

  it('is no future one after the last events were deleted with their conversation', async () => {
    const { url, remove } = await createPostgresDatabase()
    onTestFinished(remove)
    const service = await startService(url)
    onTestFinished(() => service.close())
    const { ada, grace, conversation_id } = await startThread(service)
    const { cookie } = await signInByHand(service.base_url, grace.email, PASSWORD)
    const before = await openStream(service.base_url, undefined, { cookie })
    const id = (await before.until('stream.ready')).at(-1)!.id!
    await before.close()
    await ada.conversations.remove(conversation_id)
    await contextOf(service.chat).db.run('DELETE FROM events')
    const after = await openStream(service.base_url, undefined, { cookie, last_event_id: id })
    const [ready] = await after.until('stream.ready')
    expect(ready!.event.payload).toMatchObject({ resumed: true })
    await after.close()
  })
})
