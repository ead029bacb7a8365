import { expect, it, onTestFinished, vi } from 'vitest'
import { type Chat, createChatService, openStorage, parseConfig, type Storage } from '../lib/index.ts'
import type { Database } from '../lib/storage/database.ts'
import { describeOnEachDatabase } from './support/databases.ts'

/** The intervals that were set and not cleared since the call. */
function watchIntervals(): ReadonlySet<unknown> {
  const running = new Set<unknown>()
  const [set, clear] = [globalThis.setInterval, globalThis.clearInterval]
  const onSet = vi.spyOn(globalThis, 'setInterval').mockImplementation(((...given: Parameters<typeof set>) => {
    const timer = set(...given)
    running.add(timer)
    return timer
  }) as typeof set)
  const onClear = vi.spyOn(globalThis, 'clearInterval').mockImplementation((timer) => {
    running.delete(timer)
    clear(timer as NodeJS.Timeout)
  })
  onTestFinished(() => {
    for (const spy of [onSet, onClear]) spy.mockRestore()
  })
  return running
}

/** The same storage, which calls `onCall` before each statement and transaction. */
function withCalls(storage: Storage, onCall: () => void): Storage {
  const counted = <Db extends Database>(db: Db): Db => ({
    ...db,
    all(sql) {
      onCall()
      return db.all(sql)
    },
    get(sql) {
      onCall()
      return db.get(sql)
    },
    run(sql) {
      onCall()
      return db.run(sql)
    },
    write(work, options) {
      onCall()
      return db.write(work, options)
    },
  })
  return { ...storage, db: counted(storage.db), signals: storage.signals && counted(storage.signals) }
}

describeOnEachDatabase('a service that is closed while it starts', (openUrl) => {
  it('leaves no timer behind, at whichever of its statements', async () => {
    const url = await openUrl()
    const running = watchIntervals()
    for (let nth = 1, isReached = true; isReached; nth += 4) {
      let calls = 0
      let closing: Promise<void> | undefined
      const storage = await openStorage({ database: url })
      const chat: Chat = createChatService(
        parseConfig({}),
        withCalls(storage, () => {
          if (++calls === nth) closing = chat.close()
        }),
      )
      await chat.start().catch(() => {})
      isReached = closing !== undefined
      await (closing ?? chat.close())
      expect(running.size, `closed at statement ${nth}`).toBe(0)
    }
  })
})
