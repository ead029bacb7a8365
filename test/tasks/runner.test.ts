import { afterAll, beforeAll, expect, it } from 'vitest'
import { sql } from '../../lib/storage/sql.ts'
import { createTaskWorker, type TaskHandler } from '../../lib/tasks/runner.ts'
import { TASK_KINDS, type TaskKind } from '../../lib/tasks/schema.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { innerState, startService, type TestService } from '../support/service.ts'

describeOnEachDatabase('tasks', (openUrl) => {
  /** Takes no tasks itself. */
  let service: TestService
  beforeAll(async () => {
    service = await startService(await openUrl())
    for (const node of service.nodes) await innerState(node).tasks.stop()
  })
  afterAll(() => service.close())

  const enqueue = (key: string) =>
    innerState(service).write(async (tx) => tx.enqueue({ kind: 'conversation.remove', key }))

  /** Another process, which does tasks by the handler. */
  function createWorker(handler: TaskHandler) {
    const { db, metrics, log } = innerState(service)
    const handlers = Object.fromEntries(TASK_KINDS.map((kind) => [kind, handler])) as Record<TaskKind, TaskHandler>
    const worker = createTaskWorker({ db, metrics, log })
    worker.handle(handlers)
    return worker
  }

  it('are each run by one process, when several look for them at once', async () => {
    const keys = Array.from({ length: 20 }, (_, i) => `key-${i}`)
    for (const key of keys) await enqueue(key)
    const done: string[] = []
    const workers = Array.from({ length: 3 }, () =>
      createWorker(async ({ key }) => {
        done.push(key)
        return { done: true }
      }),
    )
    await Promise.all(workers.map((worker) => worker.settle()))
    expect(done.sort()).toEqual(keys.sort())
  })

  it('of a dead process are taken by another one, and of a live one are not', async () => {
    const { db } = innerState(service)
    await enqueue('left')
    await db.run(sql`UPDATE tasks SET writer = 'dead', lease_expires_at = 1`)
    await enqueue('held')
    const soon = (Date.now() + 3_600_000) * 1000
    await db.run(sql`UPDATE tasks SET writer = 'alive', lease_expires_at = ${soon} WHERE key = 'held'`)
    const done: string[] = []
    const worker = createWorker(async ({ key }) => {
      done.push(key)
      // The one that lives gives it up.
      await db.run(sql`UPDATE tasks SET lease_expires_at = 1 WHERE key = 'held'`)
      return { done: true }
    })
    await worker.settle()
    expect(done).toEqual(['left', 'held'])
  })

  it('that fail are counted and retried, and continue with their stored progress', async () => {
    await enqueue('failing')
    const details: unknown[] = []
    const worker = createWorker(async ({ detail }) => {
      details.push(detail)
      if (details.length === 1) return { done: false, detail: { removed: 7 } }
      if (details.length === 2) throw new Error('no luck')
      return { done: true }
    })
    await worker.settle()
    expect(details).toEqual([{}, { removed: 7 }, { removed: 7 }])
    const page = await service.chat.ops.metrics(null)
    expect(page).toContain('chat_tasks_failed_total{kind="conversation.remove"} 1')
    expect(page).toContain('chat_tasks_due{kind="conversation.remove"} 0')
  })
})
