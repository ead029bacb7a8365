import { expect, it, onTestFinished } from 'vitest'
import { OPERATOR } from '../../lib/index.ts'
import { sql } from '../../lib/storage/sql.ts'
import { tracesOf } from '../fault/traces.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { innerState, startService, times } from '../support/service.ts'

/** Long enough to need its own pages, too. */
const long = (word: string) => `${word} `.repeat(2_000)

/** A word that occurs in no other data. */
const WORD = 'zxcanaryq'

describeOnEachDatabase('deleted data', (openUrl) => {
  it('is in no table and, on SQLite, in no file once its removal has ended', async () => {
    const url = await openUrl()
    const service = await startService(url)
    onTestFinished(service.close)
    const { chat } = service
    const ada = await chat.users.actor((await service.signIn('ada')).id)
    const { user } = await chat.users.create(OPERATOR, {
      username: `${WORD}name`,
      email: `${WORD}@example.org`,
      display_name: `${WORD} display`,
      password: 'correct horse battery',
    })
    const grace = await chat.users.actor(user.id)
    const { conversation_id: kept } = await chat.conversations.create(ada, { title: 'kept' })
    await chat.participants.add(ada, kept, { user_id: user.id })
    const { conversation_id: gone } = await chat.conversations.create(ada, {
      title: `${WORD} title`,
      ref: `${WORD}-ref`,
      metadata: { note: WORD },
    })
    await chat.invites.create(ada, gone, { email: `${WORD}.guest@example.org` })
    for (const [actor, id] of [[grace, kept] as const, [ada, gone] as const]) {
      for (const content of [WORD, long(WORD)]) {
        const { message_id } = await chat.messages.postRoot(actor, id, {
          content,
          title: `${WORD} heading`,
          metadata: { note: WORD },
          idempotency_key: `${id}${content.length}`,
        })
        for (const n of times(3, (i) => i))
          await chat.messages.edit(actor, message_id, { content: `${content} ${n}`, reason: `${WORD} reason` })
      }
      const question = await chat.messages.postRoot(actor, id, { content: `${WORD} question`, role: 'assistant' })
      await chat.threads.setTitle(actor, question.root_id, { title: `${WORD} asked` })
    }
    await innerState(chat).answers.idle()
    expect(await tracesOf(chat, url, WORD)).not.toEqual([])

    await chat.conversations.remove(ada, gone)
    await innerState(chat).tasks.settle()
    // The title stays in the audit log, for as long as its entries do.
    const { db, write } = innerState(chat)
    const [deleted] = await db.all(sql`SELECT names FROM audit_log WHERE act = 'conversation.deleted'`)
    expect(deleted).toEqual({ names: JSON.stringify({ title: `${WORD} title` }) })
    await write((tx) => tx.run(sql`DELETE FROM audit_log WHERE names IS NOT NULL`))
    await chat.users.erase(OPERATOR, user.id, { messages: 'erase' })
    await innerState(chat).tasks.settle()
    expect(await tracesOf(chat, url, WORD)).toEqual([])
    expect((await chat.ops.fsck()).findings).toEqual([])
  })
})
