import { Client } from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { toWordNumber } from '../../../lib/chat/search/rules.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, startService, type TestService, times } from '../../support/service.ts'

const idle = ({ nodes }: TestService) => Promise.all(nodes.map((node) => node.idle()))

describeOnEachDatabase('what was erased', (openUrl, dialect) => {
  const start = async () => {
    const url = await openUrl()
    const service = await startService(url)
    onTestFinished(service.close)
    const [ada, grace] = [await service.signIn('ada'), await service.signIn('grace')]
    const { conversation_id } = await ada.conversations.create({})
    await ada.participants.add(conversation_id, { user_id: grace.id })
    for (const n of times(20, (n) => n)) {
      await ada.messages.postRoot(conversation_id, { content: `lasting${n} words` })
      await grace.messages.postRoot(conversation_id, { content: `vanishing${n} words` })
    }
    await idle(service)
    return { url, service, grace, db: innerState(service).db }
  }

  it('is in no row of the index of PostgreSQL, nor among those that its files still have', async ({ skip }) => {
    if (dialect === 'sqlite') return skip()
    const { url, service, grace, db } = await start()
    const admin = new Client(url)
    await admin.connect()
    onTestFinished(() => admin.end())
    const installed = await admin.query("SELECT 1 FROM pg_available_extensions WHERE name = 'pgstattuple'")
    const has = async (word: string) =>
      (await db.all(sql`SELECT doc FROM search_docs WHERE words @> ARRAY[${toWordNumber(word)}::integer]`)).length
    expect([await has('lasting'), await has('vanishing')]).toEqual([20, 20])
    await service.chat.users.erase(OPERATOR, grace.id, { messages: 'erase' })
    await innerState(service).tasks.settle()
    expect([await has('lasting'), await has('vanishing')]).toEqual([20, 0])
    expect(await db.all(sql`SELECT word FROM search_words WHERE word LIKE '%ishing%'`)).toEqual([])
    expect(await db.all(sql`SELECT number FROM search_gone`)).toEqual([])
    if (installed.rows.length === 0) return
    await admin.query('CREATE EXTENSION pgstattuple')
    for (const table of ['search_docs', 'search_words']) {
      const { rows } = await admin.query(`SELECT dead_tuple_count::integer AS dead FROM pgstattuple('${table}')`)
      expect([table, rows[0].dead]).toEqual([table, 0])
    }
  })

  it('leaves the tables of PostgreSQL once no transaction from before may read it', async ({ skip }) => {
    if (dialect === 'sqlite') return skip()
    const { url, service, db } = await start()
    const reader = new Client(url)
    await reader.connect()
    onTestFinished(() => reader.end())
    await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
    await reader.query('SELECT count(*) FROM search_docs')
    const purge = () => db.purge(['search_docs'], new AbortController().signal)
    expect(await purge()).toBe(false)
    await reader.query('COMMIT')
    expect(await purge()).toBe(true)
    await service.idle()
  })
})
