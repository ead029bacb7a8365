import { beforeAll, expect, it } from 'vitest'
import { recountUnread } from '../../../lib/chat/unread/recounting.ts'
import { findRecount, setRecount } from '../../../lib/chat/unread/store-recounting.ts'
import { insertNode, updateDetails } from '../../../lib/cluster/store.ts'
import { MIGRATIONS } from '../../../lib/storage/schema/migrations.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeService } from '../../support/describe-service.ts'
import { innerState, startThread } from '../../support/service.ts'

const SECOND = 1_000_000

describeService('unread counts after processes of an older version', (service) => {
  // Ahead of the clock of the service, whose own job changes nothing then.
  let at = Date.now() * 1000 + 86_400 * SECOND
  let isBeside = false
  beforeAll(async () => {
    const { ada, grace, root } = await startThread(service)
    for (const content of ['one', 'two']) await ada.messages.reply(root.root_id, { content })
    // The participants of a second conversation are counted by a batch of their own.
    const { conversation_id } = await grace.conversations.create()
    await grace.messages.postRoot(conversation_id, { content: 'alone' })
  })

  const ctx = () => innerState(service)
  const run = () => {
    const { db, write, streams, cluster } = ctx()
    const hasOlderNode = () => Promise.resolve(isBeside)
    return recountUnread({ db, write, streams, cluster: { ...cluster, hasOlderNode }, now: () => at })
  }
  /** As a program that does not know all marks. */
  const miscount = () => ctx().db.write((tx) => tx.run(sql`UPDATE participants SET seen_count = seen_count - 1`))
  const problems = async () => (await service.chat.ops.fsck()).findings.map(({ name }) => name)
  const counted = { schema: MIGRATIONS.length }

  it('are counted once after an upgrade', async () => {
    await ctx().db.write(async (tx) => {
      await setRecount(tx, { schema: counted.schema - 1 })
      await tx.run(sql`UPDATE participants SET seen_count = seen_count - 1`)
    })
    await run()
    expect(await problems()).toEqual([])
    expect(await findRecount(ctx().db)).toEqual(counted)
    await miscount()
    await run()
    expect(await problems()).toEqual(['unread-counted'])
    await ctx().db.write((tx) => tx.run(sql`UPDATE participants SET seen_count = seen_count + 1`))
  })

  it('are counted again half a minute after the last of them has stopped', async () => {
    await miscount()
    isBeside = true
    await run()
    at += 25 * SECOND
    await run()
    expect(await findRecount(ctx().db)).toEqual({ ...counted, older_at: at })
    isBeside = false
    at += 29 * SECOND
    await run()
    expect(await problems()).toEqual(['unread-counted'])
    at += SECOND
    await run()
    expect(await problems()).toEqual([])
    expect(await findRecount(ctx().db)).toEqual(counted)
  })

  it('are counted from the beginning if one of them starts while they are counted', async () => {
    const after = { conversation_id: 'zzz', user_id: '' }
    await ctx().db.write((tx) => setRecount(tx, { ...counted, after }))
    isBeside = true
    await run()
    expect(await findRecount(ctx().db)).toEqual({ ...counted, older_at: at })
    isBeside = false
    await miscount()
    at += 30 * SECOND
    await run()
    expect(await problems()).toEqual([])
  })

  it('come with the notifications of threads and of direct conversations that it has read', async () => {
    const { ada, grace, root } = await startThread(service)
    await grace.messages.reply(root.root_id, { content: 'three' })
    const other = await ada.messages.postRoot(root.conversation_id, { content: 'another' })
    await grace.messages.reply(other.root_id, { content: 'unread' })
    const direct = await ada.conversations.direct({ user_id: grace.id })
    const { root_id } = await grace.messages.postRoot(direct.conversation_id, { content: 'hello' })
    const shown = async () =>
      (await ada.notifications.list({ unread: true })).notifications.map(({ kind, count }) => [kind, count])
    expect(await shown()).toEqual([
      ['direct', 1],
      ['reply', 1],
      ['reply', 1],
    ])
    await ctx().db.write(async (tx) => {
      for (const id of [root.root_id, root_id]) {
        await tx.run(
          sql`INSERT INTO thread_members (root_id, user_id) VALUES (${id}, ${ada.id}) ON CONFLICT DO NOTHING`,
        )
        await tx.run(
          sql`UPDATE thread_members SET read_at = t.last_activity_at, marked_in = t.conversation_id,
                     read_count = t.message_count - thread_members.live_count
                FROM threads t WHERE t.root_id = thread_members.root_id AND t.root_id = ${id}
                 AND thread_members.user_id = ${ada.id}`,
        )
      }
      await setRecount(tx, { schema: counted.schema - 1 })
    })
    await run()
    expect(await shown()).toEqual([['reply', 1]])
    expect(await problems()).toEqual([])
  })

  it('are left to a later version that has counted them', async () => {
    const later = { schema: counted.schema + 1 }
    await ctx().db.write((tx) => setRecount(tx, later))
    await run()
    expect(await findRecount(ctx().db)).toEqual(later)
    await ctx().db.write((tx) => setRecount(tx, counted))
  })

  it('know an older process by its row, which has no number of migrations', async () => {
    const { cluster } = ctx()
    expect(cluster.isShared).toBe(true)
    expect(await cluster.hasOlderNode(MIGRATIONS.length)).toBe(false)
    expect(await cluster.hasOlderNode(MIGRATIONS.length + 1)).toBe(true)
    await insertNode(cluster.db, 'older', '0.3.0')
    // It has written nothing of itself yet.
    expect(await cluster.hasOlderNode(MIGRATIONS.length)).toBe(false)
    await updateDetails(cluster.db, 'older', JSON.stringify({ host: 'engine', pid: 1, values: {} }))
    expect(await cluster.hasOlderNode(MIGRATIONS.length)).toBe(true)
    await cluster.db.write((tx) => tx.run(sql`DELETE FROM nodes WHERE id = 'older'`))
  })
})
