import { readFileSync } from 'node:fs'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { MIGRATIONS } from '../../lib/storage/migrations.ts'
import { openStorage } from '../../lib/storage/open.ts'
import { type Dialect, describeOnEachDatabase } from '../support/databases.ts'
import { startService } from '../support/service.ts'
import { fileOf, openHandle } from './handles.ts'

/**
 * Databases of the first state of the schema that is still a step of the present one, as SQL: two threads, with an
 * edited message, a deleted one, a mark, and an invite that was used.
 */
const dumpOf = (dialect: Dialect) => readFileSync(new URL(`upgrade/${dialect}.sql`, import.meta.url), 'utf8')

const FIRST = MIGRATIONS[0]!.name

describeOnEachDatabase('a database of the first schema', (openUrl, dialect) => {
  it('is brought up to date, is consistent, and is read and written', async () => {
    const url = await openUrl()
    await load(url)
    const storage = await openStorage({ database: url })
    const applied = (await storage.migrations()).filter((step) => step.applied_at).map(({ name }) => name)
    expect(applied).toEqual([FIRST])
    await storage.close()

    const service = await startService(url)
    onTestFinished(service.close)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
    const [ada, grace, eve] = [await service.signIn('ada'), await service.signIn('grace'), await service.signIn('eve')]
    expect((await eve.readMe()).user.email_verified).toBe(true)
    const { conversations } = await eve.listConversations({ query: {} })
    expect(conversations).toMatchObject([{ title: 'Engines', role: 'member', participant_count: 3 }])
    const params = { conversation_id: conversations[0]!.id }
    const { threads } = await grace.listThreads({ params, query: {} })
    expect(threads.map(({ root_excerpt, message_count, unread }) => [root_excerpt, message_count, unread])).toEqual([
      ['Another thread', 1, 0],
      ['first', 4, 0],
    ])

    const { root_id } = threads[1]!
    const { messages } = await ada.readThread({ params: { root_id }, query: {} })
    expect(messages.map(({ content, depth }) => [depth, content])).toEqual([
      [0, 'first'],
      [1, 'It\'s 🥊; "quoted" -- and\na new line'],
      [2, 'third, edited'],
      [3, 'fourth'],
      [1, ''],
    ])
    const edited = messages[2]!.id
    expect((await ada.listRevisions({ params: { message_id: edited } })).revisions).toMatchObject([
      { content: 'third' },
    ])

    await eve.replyToMessage({ params: { parent_id: edited }, body: { content: 'Still here' } })
    await ada.restoreMessage({ params: { message_id: messages[4]!.id } })
    expect((await grace.readThread({ params: { root_id }, query: {} })).messages.map(({ content }) => content)).toEqual(
      [...messages.slice(0, 4).map(({ content }) => content), 'Still here', 'to be deleted'],
    )
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  async function load(url: string): Promise<void> {
    if (dialect === 'sqlite') {
      const handle = await openHandle(fileOf(url))
      handle.exec(dumpOf(dialect))
      return handle.close()
    }
    const client = new pg.Client(url)
    await client.connect()
    await client.query(dumpOf(dialect))
    await client.end()
  }
})
