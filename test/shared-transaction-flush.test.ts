import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import type { Storage } from '../lib/storage/open.ts'
import type { Sql } from '../lib/storage/sql.ts'
import { promised } from './storage/handles.ts'
import { describeOnEachDatabase } from './support/databases.ts'
import { innerState, startService, startThread } from './support/service.ts'

describeOnEachDatabase('flush after a commit of the host', (openUrl, dialect) => {
  it.runIf(dialect === 'postgresql')('finds it while an older look is in progress', async () => {
    const url = await openUrl()
    const looked = promised()
    const released = promised()
    const wrap = (storage: Storage): Storage => {
      const all = async (sql: Sql) => {
        const rows = await storage.db.all(sql)
        if (!sql.text.includes('pg_xact_status')) return rows
        looked.resolve()
        await released.promise
        return rows
      }
      return { ...storage, db: { ...storage.db, all: all as typeof storage.db.all } }
    }
    const heard: string[] = []
    const hooks = { afterEvent: ({ type }: { type: string }) => void heard.push(type) }
    const service = await startService(url, { wrap, ports: { hooks } })
    onTestFinished(() => service.close())
    const { ada, root } = await startThread(service)
    const actor = await service.chat.users.actor(ada.id)
    await service.idle()
    heard.length = 0
    const client = new pg.Client(url)
    await client.connect()
    onTestFinished(() => client.end())
    await client.query('BEGIN')
    await service.chat.withTransaction(client, (shared) =>
      shared.messages.reply(actor, root.message_id, { content: '1' }),
    )
    await looked.promise
    await client.query('COMMIT')
    const flushed = service.chat.flush()
    released.resolve()
    await flushed
    await innerState(service).host.afterEvents.idle()
    expect(heard).toEqual(['message.new'])
  })
})
