import { expect, it, onTestFinished } from 'vitest'
import { readClockNotes } from '../../lib/storage/clock-notes.ts'
import { statement } from '../../lib/storage/sql.ts'
import { folder } from '../cli/process.ts'
import { createFakeClock } from '../support/faketime.ts'
import { MEMORY } from '../support/memory.ts'
import { isInstalled, startCluster } from '../support/postgres.ts'
import { innerState, startService, startThread } from '../support/service.ts'

const TABLES = ['sessions', 'audit_log', 'events', 'invites']

it('the clock of PostgreSQL itself steps: both nodes delete nothing, and end no session', async ({ skip }) => {
  if (!isInstalled()) return skip('PostgreSQL is not installed')
  const clock = createFakeClock(folder())
  if (!clock) return skip('faketime is not installed')
  const cluster = (await startCluster(MEMORY, {}, clock.env))!
  onTestFinished(() => cluster.stop())
  const config = { cluster: { beat_seconds: 1 } }
  const nodes = [await startService(cluster.url, { config }), await startService(cluster.url, { config })] as const
  for (const node of nodes) onTestFinished(() => node.close())
  const contexts = nodes.map(({ chat }) => innerState(chat))
  const [{ db }] = contexts as [(typeof contexts)[0]]
  const { ada, conversation_id } = await startThread(nodes[0])
  await ada.invites.create(conversation_id, { role: 'member' })
  const count = async () => {
    const counts = []
    for (const table of TABLES)
      counts.push((await db.get<{ n: number }>(statement(`SELECT count(*) AS n FROM ${table}`)))!.n)
    return counts.map(Number)
  }
  const before = await count()

  clock.set('+400d')
  for (const { clock: learnt } of contexts) await expect.poll(() => learnt.step()).toBeGreaterThan(0)
  for (const { chat } of nodes) await chat.ops.prune()
  for (const {
    ops: { clockKeeper },
  } of contexts)
    await clockKeeper.check()
  expect((await ada.auth.me()).user.id).toBe(ada.id)
  expect(await count()).toEqual(before)
  const ahead = await ada.messages.postRoot(conversation_id, { content: 'Ahead' })
  expect((await readClockNotes(db)).record).toBeDefined()

  clock.set('+0')
  for (const { clock: learnt } of contexts) await expect.poll(() => learnt.step()).toBe(0)
  for (const {
    ops: { clockKeeper },
  } of contexts)
    await clockKeeper.check()
  expect((await ada.auth.me()).user.id).toBe(ada.id)
  const after = await ada.messages.postRoot(conversation_id, { content: 'After' })
  const times = await Promise.all([ahead, after].map(({ message_id }) => ada.messages.get(message_id)))
  expect(times[1]!.created_at > times[0]!.created_at).toBe(true)
  for (const { chat } of nodes) await chat.ops.prune()
  expect((await count())[0]).toBe(before[0])
})
