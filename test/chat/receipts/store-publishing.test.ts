import { describe, expect, inject, it } from 'vitest'
import { listMoved } from '../../../lib/chat/receipts/store-publishing.ts'
import { createChatService, OPERATOR, openStorage, parseConfig } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { addCrowd, rowsRead } from '../../support/crowd.ts'
import { copyPostgresDatabase } from '../../support/databases.ts'
import { PASSWORD, times } from '../../support/service.ts'

const MARKERS = 8

describe.skipIf(!inject('postgres_url'))('read markers on PostgreSQL', () => {
  it('are looked up by key, however many conversations their users are in', async () => {
    const database = await copyPostgresDatabase()
    const open = () => openStorage({ database: database.url })
    const storage = await open()
    const seeding = await open()
    try {
      await seeding.migrate()
      const chat = createChatService(parseConfig({ security: { password: { bcrypt_cost: 4 } } }), seeding)
      await chat.start({ background: false })
      await chat.setup.run({ email: 'ada@example.org', password: PASSWORD })
      const { users } = await chat.users.list(OPERATOR, {})
      const ada = await chat.users.actor(users[0]!.id)
      const { conversation_id } = await chat.conversations.create(ada)
      const posted = await Promise.all(
        times(MARKERS, () => chat.messages.postRoot(ada, conversation_id, { content: 'root' })),
      )
      const roots = posted.map(({ root_id }) => root_id)
      await addCrowd(seeding, { conversation_id, root_id: roots[0]!, author_id: ada.user_id })
      await chat.close()
      await storage.db.run(sql`CREATE TABLE ended (n INTEGER)`)
      const before = await rowsRead(storage, { participants: 2998, thread_members: 999 + MARKERS })

      const reading = await open()
      const keys = roots.map((root_id) => ({ root_id, user_id: ada.user_id }))
      const found = await listMoved(reading.db, keys)
      expect(found.map(({ root_id }) => root_id).sort()).toEqual(roots.toSorted())
      // A server process reports what it has read, and this row, when its connection closes.
      await reading.db.run(sql`INSERT INTO ended VALUES (1)`)
      await reading.close()
      const after = await rowsRead(storage, { ended: 1 })
      for (const table of ['conversations', 'participants', 'threads', 'thread_members', 'users'])
        expect([table, after.get(table)! - before.get(table)!]).toEqual([
          table,
          expect.toSatisfy((read) => read <= 2 * MARKERS),
        ])
    } finally {
      await storage.close()
      await database.remove()
    }
  })
})
