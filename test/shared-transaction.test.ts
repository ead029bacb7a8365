import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createChatService, openStorage, parseConfig } from '../lib/index.ts'
import type { SharedChat } from '../lib/service.ts'
import { sql } from '../lib/storage/sql.ts'
import { fileOf } from './storage/handles.ts'
import { createPuppet } from './support/assistant.ts'
import { type Dialect, describeOnEachDatabase } from './support/databases.ts'
import { codeOf, innerState, startService, startThread, type TestService } from './support/service.ts'

type Work<T> = (chat: SharedChat, insert: (id: number) => Promise<void>) => Promise<T>

/** A host with a table of orders in the database of the service. */
interface Host {
  /** Runs work in a transaction of the host, which is committed unless it fails, or `outcome` is ROLLBACK. */
  inTransaction<T>(service: TestService, work: Work<T>, outcome?: 'COMMIT' | 'ROLLBACK'): Promise<T>
  countOrders(): Promise<number>
}

class RolledBack extends Error {}

function openSqliteHost(url: string): Host {
  const handle = new Sqlite(fileOf(url))
  onTestFinished(() => void handle.close())
  handle.exec('CREATE TABLE orders (id INTEGER PRIMARY KEY)')
  const insert = async (id: number) => void handle.prepare('INSERT INTO orders VALUES (?)').run(id)
  return {
    async inTransaction<T>({ chat }: TestService, work: Work<T>, outcome = 'COMMIT') {
      let value: T | undefined
      const run = chat.withTransaction(handle, async (shared) => {
        value = await work(shared, insert)
        if (outcome === 'ROLLBACK') throw new RolledBack()
      })
      await run.catch((error) => {
        if (!(error instanceof RolledBack)) throw error
      })
      return value as T
    },
    countOrders: async () => (handle.prepare('SELECT count(*) AS n FROM orders').get() as { n: number }).n,
  }
}

async function openPostgresHost(url: string): Promise<Host & { client: pg.Client }> {
  const client = new pg.Client(url)
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('CREATE TABLE orders (id INTEGER PRIMARY KEY)')
  const insert = async (id: number) => void (await client.query('INSERT INTO orders VALUES ($1)', [id]))
  return {
    client,
    async inTransaction<T>({ chat }: TestService, work: Work<T>, outcome = 'COMMIT') {
      await client.query('BEGIN')
      try {
        const value = await chat.withTransaction(client, (shared) => work(shared, insert))
        await client.query(outcome)
        return value
      } catch (error) {
        await client.query('ROLLBACK')
        throw error
      } finally {
        await chat.flush()
      }
    },
    countOrders: async () => Number((await client.query('SELECT count(*) AS n FROM orders')).rows[0].n),
  }
}

const openHost = (url: string, dialect: Dialect): Promise<Host> | Host =>
  dialect === 'sqlite' ? openSqliteHost(url) : openPostgresHost(url)

describeOnEachDatabase('withTransaction', (openUrl, dialect) => {
  async function open() {
    const url = await openUrl()
    const service = await startService(url)
    onTestFinished(() => service.close())
    const people = await startThread(service)
    const actor = await service.chat.users.actor(people.ada.id)
    return { url, service, host: await openHost(url, dialect), actor, ...people }
  }

  /** The events of a conversation, from its beginning. */
  async function eventsOf({ chat }: TestService, conversation_id: string) {
    return innerState(chat).db.all<{ seq: number; type: string }>(
      sql`SELECT seq, type FROM events WHERE conversation_id = ${conversation_id} ORDER BY seq`,
    )
  }

  it('commits a message with the row of the host, and streams get its events', async () => {
    const { service, host, actor, conversation_id, root } = await open()
    const abort = new AbortController()
    const stream = service.chat.events.follow(actor, conversation_id, { signal: abort.signal })
    expect((await stream.next()).value?.event.type).toBe('stream.ready')
    const arrived = (async () => {
      for await (const { event } of stream)
        if (event.type === 'message.new' && event.payload.message.content === 'Order 42') abort.abort()
    })()
    const { message_id } = await host.inTransaction(service, async (chat, insert) => {
      await insert(42)
      return chat.messages.reply(actor, root.message_id, { content: 'Order 42' })
    })
    await arrived
    expect(await host.countOrders()).toBe(1)
    expect((await service.chat.messages.get(actor, message_id)).content).toBe('Order 42')
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('leaves nothing after a rollback: no event, no number, no key', async () => {
    const { service, host, actor, conversation_id, root } = await open()
    const before = await eventsOf(service, conversation_id)
    const post = { content: 'Order 42', idempotency_key: 'order-42' }
    await host.inTransaction(
      service,
      async (chat, insert) => {
        await insert(42)
        await chat.messages.reply(actor, root.message_id, post)
      },
      'ROLLBACK',
    )
    expect(await host.countOrders()).toBe(0)
    expect(await eventsOf(service, conversation_id)).toEqual(before)
    const posted = await service.chat.messages.reply(actor, root.message_id, post)
    expect(posted).not.toHaveProperty('idempotency_replayed')
    const after = await eventsOf(service, conversation_id)
    expect(after.map(({ seq }) => seq)).toEqual(after.map((_, index) => index + 1))
    expect(after).toHaveLength(before.length + 1)
  })

  it('marks a conversation as read for the reads of the transaction; others get the event after the commit alone', async () => {
    const { service, host, actor, conversation_id, root, grace } = await open()
    await service.chat.conversations.rename(actor, conversation_id, { policy: { receipts: 'on' } })
    await grace.messages.reply(root.message_id, { content: 'It runs.' })
    await grace.messages.postRoot(conversation_id, { content: 'Another root' })
    const abort = new AbortController()
    const own = service.chat.events.follow(await service.chat.users.actor(grace.id), conversation_id, abort)
    expect((await own.next()).value?.event.type).toBe('stream.ready')
    const read = (): Promise<number> => service.chat.threads.unread(actor, conversation_id).then(({ unread }) => unread)
    const mark = (outcome: 'COMMIT' | 'ROLLBACK', scope: { all?: boolean }) =>
      host.inTransaction(
        service,
        async (chat) => {
          await chat.conversations.markRead(actor, conversation_id, scope)
          const { unread, unread_replies } = await chat.threads.unread(actor, conversation_id)
          return [unread, unread_replies]
        },
        outcome,
      )
    expect(await mark('ROLLBACK', { all: true })).toEqual([0, 0])
    expect(await read()).toBe(2)
    expect(await mark('COMMIT', {})).toEqual([1, 1])
    expect(await read()).toBe(1)
    const scopes: (string | undefined)[] = []
    for await (const { event } of own)
      if (event.type === 'read.update') {
        scopes.push(event.payload.scope)
        abort.abort()
      }
    expect(scopes).toEqual(['roots'])
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('undoes a call that is refused, and keeps the others of the transaction', async () => {
    const { service, host, actor, conversation_id, root, eve } = await open()
    const outsider = await service.chat.users.actor(eve.id)
    await host.inTransaction(service, async (chat, insert) => {
      await insert(1)
      await chat.messages.reply(actor, root.message_id, { content: 'one' })
      expect(await codeOf(chat.messages.reply(outsider, root.message_id, { content: 'two' }))).toBe('not_found')
      await chat.messages.postRoot(actor, conversation_id, { content: 'three' })
      const { threads } = await chat.threads.list(actor, conversation_id, {})
      expect(threads).toHaveLength(2)
    })
    expect(await host.countOrders()).toBe(1)
    expect((await service.chat.threads.list(actor, conversation_id, {})).threads).toHaveLength(2)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('refuses what cannot be part of it, and calls after its end', async () => {
    const { service, host, actor, conversation_id, root } = await open()
    const kept = await host.inTransaction(service, async (chat) => {
      const question = chat.messages.postRoot(actor, conversation_id, { role: 'assistant', content: 'Why?' })
      expect(await codeOf(question)).toBe('conflict')
      const talk = await chat.conversations.create(actor, { layout: 'assistant' })
      for (const idempotency_key of [undefined, 'a-key']) {
        const more = idempotency_key === undefined ? {} : { idempotency_key }
        const unnamed = chat.messages.postRoot(actor, talk.conversation_id, { content: 'Why?', ...more })
        expect(await codeOf(unnamed)).toBe('conflict')
      }
      expect((await chat.threads.list(actor, talk.conversation_id, {})).threads).toEqual([])
      for (const name of ['events', 'approvals', 'webhooks', 'uiChats', 'responses', 'runs', 'openai'] as const) {
        expect(() => (chat as never as typeof service.chat)[name]).toThrow(`chat.${name} cannot be part`)
        expect(await codeOf((async () => (chat as never as typeof service.chat)[name])())).toBe('conflict')
      }
      return { chat }
    })
    await expect(kept.chat.messages.reply(actor, root.message_id, { content: 'late' })).rejects.toThrow('is over')
  })

  it('refuses something else than a connection of the host', async () => {
    const { service } = await open()
    await expect(service.chat.withTransaction({} as never, async () => {})).rejects.toThrow('is needed')
  })
})

describeOnEachDatabase('withTransaction of one database', (openUrl, dialect) => {
  async function open() {
    const url = await openUrl()
    const service = await startService(url)
    onTestFinished(() => service.close())
    const people = await startThread(service)
    return { url, service, actor: await service.chat.users.actor(people.ada.id), ...people }
  }

  it.runIf(dialect === 'postgresql')('lets posts to other conversations pass, and those to the same wait', async () => {
    const { url, service, actor, conversation_id, root } = await open()
    const { client } = await openPostgresHost(url)
    const other = await service.chat.conversations.create(actor, { title: 'Other' })
    await client.query('BEGIN')
    await service.chat.withTransaction(client, (chat) => chat.messages.reply(actor, root.message_id, { content: '1' }))
    let isPosted = false
    const same = service.chat.messages.reply(actor, root.message_id, { content: '2' }).then((posted) => {
      isPosted = true
      return posted
    })
    await service.chat.messages.postRoot(actor, other.conversation_id, { content: 'elsewhere' })
    expect(isPosted).toBe(false)
    await client.query('COMMIT')
    await same
    const rows = await innerState(service).db.all<{ content: string }>(
      sql`SELECT content FROM messages WHERE conversation_id = ${conversation_id} ORDER BY created_at`,
    )
    expect(rows.map(({ content }) => content)).toEqual(['first', '1', '2'])
  })

  it.runIf(dialect === 'postgresql')('sends no event of what the host undid by a savepoint', async () => {
    const { url, service, actor, conversation_id, root } = await open()
    const { client } = await openPostgresHost(url)
    await client.query('BEGIN')
    await service.chat.withTransaction(client, (chat) => chat.messages.reply(actor, root.message_id, { content: '1' }))
    await client.query('SAVEPOINT mine')
    await service.chat.withTransaction(client, (chat) => chat.messages.reply(actor, root.message_id, { content: '2' }))
    await client.query('ROLLBACK TO SAVEPOINT mine')
    const got: string[] = []
    const abort = new AbortController()
    const { stream_position } = await service.chat.threads.list(actor, conversation_id, {})
    const stream = service.chat.events.follow(actor, conversation_id, {
      last_event_id: stream_position,
      signal: abort.signal,
    })
    const arrived = (async () => {
      for await (const { event } of stream) {
        if (event.type === 'message.new') got.push(event.payload.message.content)
        if (got.includes('3')) abort.abort()
      }
    })()
    await client.query('COMMIT')
    await service.chat.flush()
    await service.chat.messages.reply(actor, root.message_id, { content: '3' })
    await arrived
    expect(got).toEqual(['1', '3'])
  })

  it.runIf(dialect === 'postgresql')(
    'is refused without a transaction, on a pool, and on another database',
    async () => {
      const { url, service } = await open()
      const { client } = await openPostgresHost(url)
      await expect(service.chat.withTransaction(client, async () => {})).rejects.toThrow('Send BEGIN first')
      const pool = new pg.Pool({ connectionString: url })
      onTestFinished(() => pool.end())
      await expect(service.chat.withTransaction(pool, async () => {})).rejects.toThrow('not a pool')
      const elsewhere = new pg.Client(await openUrl())
      await elsewhere.connect()
      onTestFinished(() => elsewhere.end())
      await elsewhere.query('BEGIN')
      await expect(service.chat.withTransaction(elsewhere, async () => {})).rejects.toThrow('another database')
      await client.query('BEGIN')
      const bare = { query: async (text: string) => ({ rows: (await client.query(text)).rows }) }
      await expect(service.chat.withTransaction(bare, async () => {})).rejects.toThrow('rows, rowCount and fields')
      // As adapters return it that know the names of columns alone: 64-bit integers would stay texts.
      const untyped = {
        async query(text: string, values: never[]) {
          const { rows, rowCount, fields } = await client.query(text, values)
          return { rows, rowCount, fields: fields.map(({ name }) => ({ name })) }
        },
      }
      await expect(service.chat.withTransaction(untyped, async () => {})).rejects.toThrow(
        'must have dataTypeID, as those of pg: that of "place" is missing',
      )
      await client.query('ROLLBACK')
    },
  )

  it.runIf(dialect === 'postgresql')('is unavailable after a serialization failure, which is not retried', async () => {
    const { url, service, actor, root } = await open()
    const { client } = await openPostgresHost(url)
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
    await client.query('SELECT count(*) FROM orders')
    await service.chat.messages.reply(actor, root.message_id, { content: 'first' })
    let calls = 0
    const shared = service.chat.withTransaction(client, (chat) => {
      calls++
      return chat.messages.reply(actor, root.message_id, { content: 'second' })
    })
    expect(await codeOf(shared)).toBe('unavailable')
    expect(calls).toBe(1)
    await client.query('ROLLBACK')
  })

  it.runIf(dialect === 'sqlite')('is refused with an open transaction, and on another file', async () => {
    const { url, service } = await open()
    const handle = new Sqlite(fileOf(url))
    onTestFinished(() => void handle.close())
    handle.exec('BEGIN')
    await expect(service.chat.withTransaction(handle, async () => {})).rejects.toThrow('a transaction is open')
    handle.exec('COMMIT')
    const memory = new Sqlite(':memory:')
    onTestFinished(() => void memory.close())
    await expect(service.chat.withTransaction(memory, async () => {})).rejects.toThrow('this handle is not on')
    await expect(openStorage({ database: memory })).rejects.toThrow('in memory')
  })

  it.runIf(dialect === 'sqlite')('leaves the settings of the handle, of which openStorage takes the file', async () => {
    const { url, service, actor, root } = await open()
    const handle = new Sqlite(fileOf(url))
    onTestFinished(() => void handle.close())
    handle.pragma('busy_timeout = 1234')
    handle.pragma('foreign_keys = OFF')
    const other = createChatService(parseConfig(), await openStorage({ database: handle }))
    onTestFinished(() => other.close())
    await other.start({ background: false })
    await other.withTransaction(handle, (chat) => chat.messages.reply(actor, root.message_id, { content: 'by hand' }))
    expect(handle.pragma('busy_timeout', { simple: true })).toBe(1234)
    expect(handle.pragma('foreign_keys', { simple: true })).toBe(0)
    const { messages } = await service.chat.threads.tree(actor, root.message_id, {})
    expect(messages.map(({ content }) => content)).toContain('by hand')
  })
})

describe('idle', () => {
  it('resolves once answers have ended, and rejects after a time limit', async () => {
    const puppet = createPuppet()
    const service = await startService('sqlite::memory:', { ports: { assistant: puppet.assistant } })
    onTestFinished(() => service.close())
    const { ada, conversation_id } = await startThread(service)
    await service.chat.idle()
    const { message_id } = await ada.messages.postRoot(conversation_id, { role: 'assistant', content: 'Why?' })
    expect(await codeOf(service.chat.idle({ timeout_ms: 20 }))).toBe('unavailable')
    const answer = await puppet.asked()
    answer.say('Because.')
    answer.end()
    await service.chat.idle()
    expect((await ada.messages.get(message_id)).status).toBe('complete')
  })
})
