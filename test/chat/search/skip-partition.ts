import { PARTITION } from '../../../lib/chat/search/rules.ts'
import { statement } from '../../../lib/storage/sql.ts'
import { innerState, type TestService } from '../../support/service.ts'

/** Moves the newest message into the next partition of the index of SQLite, as if so many were posted before it. */
export async function skipPartition(service: Pick<TestService, 'chat'>): Promise<void> {
  const context = innerState(service)
  await context.search.move()
  const isNewest = 'doc = (SELECT max(doc) FROM messages)'
  // In one transaction: the mover of the service may run at any time.
  await context.db.write(async (tx) => {
    await tx.run(
      statement(`INSERT INTO search_changes (doc, message_id, version)
       SELECT doc + n, id, 1 FROM messages, (SELECT 0 AS n UNION ALL SELECT ${PARTITION}) WHERE ${isNewest}`),
    )
    await tx.run(statement(`UPDATE messages SET doc = doc + ${PARTITION} WHERE ${isNewest}`))
  })
  await context.search.move()
}
