import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { OPERATOR } from '../lib/core/actor.ts'
import type { SharedChat } from '../lib/service.ts'
import { createShare } from '../lib/storage/shared/share.ts'
import { sql } from '../lib/storage/sql.ts'
import { fileOf } from './storage/handles.ts'
import { type Dialect, describeOnEachDatabase } from './support/databases.ts'
import { innerState, startService, startThread, type TestService } from './support/service.ts'

type Work = (shared: SharedChat, exec: (sql: string) => Promise<unknown>) => Promise<void>

/** Runs work in a transaction of a host, which has savepoints of its own. */
async function shareOnce({ chat }: TestService, url: string, dialect: Dialect, work: Work) {
  if (dialect === 'sqlite') {
    const handle = new Sqlite(fileOf(url))
    onTestFinished(() => void handle.close())
    return chat.withTransaction(handle, (shared) => work(shared, async (sql) => handle.exec(sql)))
  }
  const client = new pg.Client(url)
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('BEGIN')
  await chat.withTransaction(client, (shared) => work(shared, (sql) => client.query(sql)))
  await client.query('COMMIT')
}

describeOnEachDatabase('what the host undoes by a savepoint in withTransaction', (openUrl, dialect) => {
  it('reaches neither its hook nor the log, and the rest does once', async () => {
    const url = await openUrl()
    const heard: unknown[] = []
    const acts: unknown[] = []
    const log = {
      info: (_: string, fields?: Record<string, unknown>) => void (fields?.act && acts.push(fields.act)),
      ...{ debug() {}, warn() {}, error() {} },
    }
    const hooks = {
      afterEvent: (event: { type: string; payload: unknown }) =>
        void heard.push((event.payload as { message?: { content: string } }).message?.content ?? event.type),
    }
    const service = await startService(url, { ports: { log, hooks } })
    onTestFinished(() => service.close())
    const { chat } = service
    const { ada, conversation_id, root } = await startThread(service)
    const actor = await chat.users.actor(ada.id)
    await chat.idle()
    for (const list of [heard, acts]) list.length = 0
    await shareOnce(service, url, dialect, async (shared, exec) => {
      await shared.messages.reply(actor, root.message_id, { content: 'before' })
      await exec('SAVEPOINT mine')
      await shared.messages.reply(actor, root.message_id, { content: 'undone' })
      await shared.users.ensure(OPERATOR, { subject: 'undone', username: 'undone' })
      await exec('ROLLBACK TO SAVEPOINT mine')
      await shared.messages.postRoot(actor, conversation_id, { content: 'after' })
      await shared.users.ensure(OPERATOR, { subject: 'kept', username: 'kept' })
    })
    await chat.idle()
    expect(heard).toEqual(['before', 'thread.new', 'after'])
    expect(acts).toEqual(['user.created'])
  })

  // SQLite runs each statement before the next one is given.
  it.runIf(dialect === 'postgresql')(
    'a write fails with what has failed first, not with what was sent behind it',
    async () => {
      const url = await openUrl()
      const service = await startService(url)
      onTestFinished(() => service.close())
      const client = new pg.Client(url)
      await client.connect()
      onTestFinished(() => client.end())
      await client.query('BEGIN')
      await createShare(innerState(service).db)(client, async (db) => {
        const write = db.write(async (tx) => {
          tx.run(sql`INSERT INTO api_keys (id, user_id) VALUES ('k', NULL)`).catch(() => {})
          await tx.run(sql`UPDATE users SET updated_at = updated_at`)
        })
        await expect(write).rejects.toMatchObject({ code: '23502' })
      })
    },
  )
})
