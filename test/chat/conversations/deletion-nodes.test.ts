import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Storage } from '../../../lib/index.ts'
import { TABLES } from '../../../lib/storage/archive/format.ts'
import type { Writing } from '../../../lib/storage/database.ts'
import { type Sql, statement } from '../../../lib/storage/sql.ts'
import { promised } from '../../storage/handles.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { codeOf, innerState, PASSWORD, startService, type TestService, times } from '../../support/service.ts'
import { openStream, signInByHand } from '../../support/stream.ts'

/** The removals over both nodes: the number of commits that took a task, and how they ended. */
const tasks = { taken: 0, released: 0, done: 0 }

/** Records how the transactions of a node handle removal tasks. */
function watching({ db, ...storage }: Storage): Storage {
  const removals = new Set<unknown>()
  const watched = (tx: Writing, counts: typeof tasks): Writing => ({
    ...tx,
    async get<T>(sql: Sql) {
      const row = await tx.get<T>(sql)
      const task = row as { id: string; kind?: string } | undefined
      if (sql.text.startsWith('UPDATE tasks SET writer') && task?.kind === 'conversation.remove') {
        removals.add(task.id)
        counts.taken++
      }
      return row
    },
    async run(sql) {
      const changes = await tx.run(sql)
      const { text, params } = sql
      // Both statements have the task before its writer, at their end.
      if (!removals.has(params.at(-2))) return changes
      if (text.startsWith('UPDATE tasks SET writer = NULL')) counts.released += changes
      if (text.startsWith('DELETE FROM tasks')) counts.done += changes
      return changes
    },
  })
  const write: typeof db.write = async (work, options) => {
    let counts = { ...tasks }
    const result = await db.write((tx) => {
      counts = { taken: 0, released: 0, done: 0 }
      return work(watched(tx, counts))
    }, options)
    for (const name of ['taken', 'released', 'done'] as const) tasks[name] += counts[name]
    return result
  }
  return { ...storage, db: { ...db, write } }
}

describeOnEachDatabase('a conversation that is deleted on one of two nodes', (openUrl) => {
  let here: TestService
  let there: TestService
  beforeAll(async () => {
    Object.assign(tasks, { taken: 0, released: 0, done: 0 })
    const url = await openUrl()
    const config = { session: { max_sessions_per_user: false as const } }
    here = await startService(url, { config, wrap: watching })
    there = await startService(url, { config, wrap: watching })
  })
  afterAll(() => Promise.all([here.close(), there.close()]))

  it('closes the streams of the other node, and keeps and removes concurrent posts exactly once', async () => {
    const ROUNDS = 4
    for (const round of times(ROUNDS, (n) => n)) {
      const ada = await here.signIn('ada')
      const grace = await there.signIn('grace')
      const { conversation_id } = await ada.conversations.create({ title: 'Engines' })
      const _params = { conversation_id }
      await ada.participants.add(conversation_id, { user_id: grace.id })
      const root = await ada.messages.postRoot(conversation_id, { content: 'first' })
      const { cookie } = await signInByHand(there.base_url, grace.email, PASSWORD)
      const streams = [
        await openStream(there.base_url, conversation_id, { cookie }),
        await openStream(here.base_url, conversation_id, { cookie }),
      ]
      for (const stream of streams) await stream.until('stream.ready')

      const changes: ((content: string) => Promise<unknown>)[] = [
        (content) => grace.messages.postRoot(conversation_id, { content }),
        (content) => grace.messages.postRoot(conversation_id, { content }, { headers: { 'idempotency-key': content } }),
        (content) => grace.messages.postRoot(conversation_id, { content, role: 'assistant' }),
        (content) => grace.messages.reply(root.message_id, { content }),
        (content) => ada.messages.reply(root.message_id, { content }),
        (content) => ada.messages.edit(root.message_id, { content }),
        () => ada.invites.create(conversation_id, {}),
      ]
      let done = 0
      const [busy, enough] = [promised(), 10 * (round + 1)]
      /** Makes one change after another until the conversation is deleted. */
      const goOn = async (change: (content: string) => Promise<unknown>) => {
        for (let n = 0; ; n++) {
          await change(`${round}-${n}`)
          if (++done === enough) busy.resolve()
        }
      }
      const refusals = Promise.all(changes.map((change) => codeOf(goOn(change))))
      await busy.promise
      await ada.conversations.remove(conversation_id)
      expect(await refusals).toEqual(changes.map(() => 'not_found'))

      for (const stream of streams) {
        const last = (await stream.until('stream.closed')).at(-1)!
        expect(last.event.payload).toEqual({ reason: 'removed' })
        expect(await stream.next()).toBeUndefined()
      }
      await Promise.all([here, there].map(({ chat }) => innerState(chat).answers.idle()))
      await Promise.all([here, there].map(({ chat }) => innerState(chat).tasks.settle()))

      const { db } = innerState(there)
      const tables = TABLES.map(([name]) => name).filter((name) =>
        /conv|part|thread|mess|answ|invite|events|idem/.test(name),
      )
      for (const table of tables) expect(await db.all(statement(`SELECT * FROM ${table}`)), table).toEqual([])
      expect((await there.chat.ops.fsck()).findings).toEqual([])
    }
    // Each was taken again only after it was released, and finished once.
    expect(tasks.done).toBe(ROUNDS)
    expect(tasks.taken).toBe(tasks.released + tasks.done)
  })
})
