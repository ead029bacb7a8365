import Sqlite from 'better-sqlite3'
import { expect, it, onTestFinished } from 'vitest'
import { fileOf, promised } from './storage/handles.ts'
import { describeOnEachDatabase } from './support/databases.ts'
import { codeOf, startService, startThread } from './support/service.ts'

const SETTINGS = { busy_timeout: 1234, foreign_keys: 0, synchronous: 1, secure_delete: 0 }

describeOnEachDatabase('withTransaction on one handle of SQLite', (openUrl, dialect) => {
  async function open() {
    const url = await openUrl()
    const service = await startService(url)
    onTestFinished(() => service.close())
    const { ada, conversation_id, root } = await startThread(service)
    const handle = new Sqlite(fileOf(url))
    onTestFinished(() => void handle.close())
    for (const [name, value] of Object.entries(SETTINGS)) handle.pragma(`${name} = ${value}`)
    const actor = await service.chat.users.actor(ada.id)
    return { url, service, handle, actor, conversation_id, root, chat: service.chat }
  }

  const settingsOf = (handle: Sqlite.Database) =>
    Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, handle.pragma(name, { simple: true })]))

  it.runIf(dialect === 'sqlite')('runs calls at the same time one after another', async () => {
    const { chat, handle, actor, root } = await open()
    const posts = ['1', '2', '3'].map((content) =>
      chat.withTransaction(handle, (shared) => shared.messages.reply(actor, root.message_id, { content })),
    )
    await Promise.all(posts)
    const { messages } = await chat.threads.tree(actor, root.message_id, {})
    expect(messages.map(({ content }) => content)).toEqual(['first', '1', '2', '3'])
    expect(settingsOf(handle)).toEqual(SETTINGS)
  })

  it.runIf(dialect === 'sqlite')('refuses a call inside another one, and takes one that follows it', async () => {
    const { chat, handle } = await open()
    const ended = promised()
    let following: Promise<string> | undefined
    await chat.withTransaction(handle, async () => {
      await expect(chat.withTransaction(handle, async () => {})).rejects.toThrow('inside another one')
      following = ended.promise.then(() => chat.withTransaction(handle, async () => 'followed'))
    })
    ended.resolve()
    expect(await following).toBe('followed')
  })

  it.runIf(dialect === 'sqlite')('leaves the handle to the host while another writer has the lock', async () => {
    const { url, chat, handle } = await open()
    const other = new Sqlite(fileOf(url))
    onTestFinished(() => void other.close())
    other.exec('BEGIN IMMEDIATE')
    const refused = promised()
    const watched = {
      prepare: (sql: string) => handle.prepare(sql),
      exec(sql: string) {
        try {
          return handle.exec(sql)
        } catch (error) {
          if (sql === 'BEGIN IMMEDIATE') refused.resolve()
          throw error
        }
      },
      get inTransaction() {
        return handle.inTransaction
      },
    }
    const shared = chat.withTransaction(watched, async () => {})
    const failure = expect(shared).rejects.toThrow('a transaction is open')
    await refused.promise
    handle.exec('BEGIN')
    await failure
    expect(settingsOf(handle)).toEqual(SETTINGS)
    handle.exec('COMMIT')
    other.exec('COMMIT')
    expect(await chat.withTransaction(watched, async () => 'free')).toBe('free')
  })

  it.runIf(dialect === 'sqlite')('is unavailable when too many wait', async () => {
    const { chat, handle } = await open()
    const end = promised()
    const calls = Array.from({ length: 1_002 }, () => chat.withTransaction(handle, () => end.promise))
    expect(await codeOf(Promise.race(calls))).toBe('unavailable')
    end.resolve()
    const failed = (await Promise.allSettled(calls)).filter(({ status }) => status === 'rejected')
    expect(failed).toHaveLength(1)
  })
})
