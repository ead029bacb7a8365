import { expect, it, onTestFinished } from 'vitest'
import { createAuthorEraser } from '../../../lib/chat/messages/erase-author.ts'
import { insertSilently } from '../../../lib/chat/notifications/store-all.ts'
import { insertErasedAuthor } from '../../../lib/erasure/store.ts'
import { sql, statement } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, startService, times } from '../../support/service.ts'

describeOnEachDatabase('the messages of an erased user that have notified many users', (openUrl) => {
  it('are erased with a bounded number of notifications in a transaction', async () => {
    const service = await startService(await openUrl())
    onTestFinished(service.close)
    const [ada, grace] = [await service.signIn('ada'), await service.signIn('grace')]
    const { conversation_id } = await ada.conversations.create()
    await ada.participants.add(conversation_id, { user_id: grace.id })
    const { db, now } = innerState(service)
    const users = times(300, (n) => `user ${n}`)
    const { root_id } = await grace.messages.postRoot(conversation_id, { content: 'Hello' })
    for (const n of times(10, (index) => index)) {
      const { message_id: id } = await grace.messages.reply(root_id, { content: `To all, ${n}` })
      await db.write(async (tx) => {
        await tx.run(sql`UPDATE messages SET mention_all = 1 WHERE id = ${id}`)
        await insertSilently(tx, { id, at: now(), read_at: null, hidden: 0 }, users)
      })
    }
    const author = { user_id: grace.id, messages: 'erase' as const, erased_at: now() }
    await db.write((tx) => insertErasedAuthor(tx, author))

    const all = "SELECT count(*) AS n FROM notifications WHERE kind = 'mention_all'"
    const count = async () => (await db.get<{ n: number }>(statement(all)))!.n
    const eraser = createAuthorEraser(innerState(service), author, {})
    const removed: number[] = []
    for (let before = await count(); (await eraser.next(100)) !== undefined; before -= removed.at(-1)!)
      removed.push(before - (await count()))
    expect(removed.reduce((sum, n) => sum + n)).toBe(3_000)
    expect(Math.max(...removed)).toBeLessThanOrEqual(600)
    expect(eraser.progress()).toMatchObject({ removed: 11 })
  })
})
