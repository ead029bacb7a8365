import { expect, it } from 'vitest'
import { createChanges } from '../../../lib/live/poll/changes.ts'
import { sql, statement } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, startService, times } from '../../support/service.ts'

/** More than a page of the log of all conversations. */
const MANY = 300

describeOnEachDatabase('a dump that was restored on another server', (openUrl, dialect) => {
  it.runIf(dialect === 'postgresql')('leaves streams of all conversations as they are elsewhere', async () => {
    const url = await openUrl()
    const before = await startService(url)
    const { id } = await before.signIn('ada')
    const ada = await before.chat.users.actor(id)
    const { conversation_id } = await before.chat.conversations.create(ada, {})
    const { root_id } = await before.chat.messages.postRoot(ada, conversation_id, { content: 'root' })
    await Promise.all(times(MANY, (n) => before.chat.messages.reply(ada, root_id, { content: `reply ${n}` })))
    const { db } = innerState(before)
    // As if the other server had had more transactions.
    for (const table of ['events', 'revocations'])
      await db.run(statement(`UPDATE ${table} SET xid = (xid::text::bigint + 1000000000)::text::xid8`))
    await db.run(sql`INSERT INTO meta (name, value) VALUES ('last_deleted_xid', '1000000000')`)
    await before.close()

    const after = await startService(url)
    const context = innerState(after)
    const stream = after.chat.events.followAll(ada)
    expect((await stream.next()).value?.event.type).toBe('stream.ready')
    await after.chat.messages.reply(ada, root_id, { content: 'new' })
    let last = ''
    for await (const { event, id: place } of stream) {
      if (event.type !== 'message.new') continue
      expect(event.payload.message.content).toBe('new')
      last = place!
      break
    }
    await after.chat.messages.reply(ada, root_id, { content: 'newer' })
    const contents: string[] = []
    for await (const { event } of after.chat.events.followAll(ada, { last_event_id: last })) {
      expect(event.type).not.toBe('stream.reset')
      if (event.type !== 'message.new') continue
      contents.push(event.payload.message.content)
      break
    }
    expect(contents).toEqual(['newer'])

    // A look finds nothing anew.
    const changes = createChanges(context.db)
    for (const _ of times(2, () => 0)) (await changes.find()).accept()
    expect((await changes.find()).changes).toEqual({ conversations: [], revocations: [] })
    expect((await after.chat.ops.fsck()).findings).toEqual([])
    await after.close()
  })
})
