import { readFileSync } from 'node:fs'
import pg from 'pg'
import * as v from 'valibot'
import { expect, it, onTestFinished } from 'vitest'
import { Id } from '../../../lib/core/schema.ts'
import type { Database, Queries, Row } from '../../../lib/storage/database.ts'
import { openStorage } from '../../../lib/storage/open.ts'
import { migrate } from '../../../lib/storage/schema/migrate.ts'
import { COLUMN_TYPES, MIGRATIONS } from '../../../lib/storage/schema/migrations.ts'
import { sql, statement } from '../../../lib/storage/sql.ts'
import { type Dialect, describeOnEachEmptyDatabase } from '../../support/databases.ts'
import { innerState, PASSWORD, startService, startThread } from '../../support/service.ts'
import { refreshByHand, type SignedHeaders, signInByHand } from '../../support/stream.ts'
import { runProcess } from '../child.ts'
import { fileOf, openHandle } from '../handles.ts'

/**
 * Databases of the first schema, as SQL: two threads, with an edited message, a deleted one, a read marker, and a used
 * invite.
 */
const dumpOf = (dialect: Dialect) => readFileSync(new URL(`../upgrade/${dialect}.sql`, import.meta.url), 'utf8')

const FIRST = MIGRATIONS[0]!.name

describeOnEachEmptyDatabase('a database of the first schema', (openUrl, dialect) => {
  it('is migrated, is consistent, and can be read and written', async () => {
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
    expect((await eve.auth.me()).user.email_verified).toBe(true)
    const { conversations } = await eve.conversations.list({})
    expect(conversations).toMatchObject([{ title: 'Engines', role: 'member', participant_count: 3 }])
    const params = { conversation_id: conversations[0]!.id }
    const { threads } = await grace.threads.list(params.conversation_id, {})
    expect(threads.map(({ root_excerpt, message_count, unread }) => [root_excerpt, message_count, unread])).toEqual([
      ['Another thread', 1, 0],
      ['first', 4, 0],
    ])

    const { root_id } = threads[1]!
    const { messages } = await ada.threads.tree(root_id, {})
    expect(messages.map(({ content, depth }) => [depth, content])).toEqual([
      [0, 'first'],
      [1, 'It\'s 🥊; "quoted" -- and\na new line'],
      [2, 'third, edited'],
      [3, 'fourth'],
      [1, ''],
    ])
    const edited = messages[2]!.id
    expect((await ada.messages.listRevisions(edited)).revisions).toMatchObject([{ content: 'third' }])

    await eve.messages.reply(edited, { content: 'Still here' })
    await ada.messages.restore(messages[4]!.id)
    expect((await grace.threads.tree(root_id, {})).messages.map(({ content }) => content)).toEqual([
      ...messages.slice(0, 4).map(({ content }) => content),
      'Still here',
      'to be deleted',
    ])
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('is completed after each migration was interrupted at its last statement', { timeout: 600_000 }, async () => {
    const url = await openUrl()
    await load(url)
    for (const [index, step] of MIGRATIONS.entries()) {
      if (index === 0) continue
      const last = step.statements(COLUMN_TYPES[dialect], dialect).at(-1)
      // One for the other database.
      if (last === undefined) continue
      // A database undoes a killed process as it undoes an error: some show the one, and all that no statement is exempt.
      const isKilled = index % 10 === 0 || index === MIGRATIONS.length - 1
      if (isKilled) expect(await runProcess('migrate', url, last)).toEqual({ signal: 'SIGKILL', output: '' })
      const storage = await openStorage({ database: url })
      if (!isKilled) await expect(migrate(failingAt(storage.db, last))).rejects.toThrow('interrupted')
      const pending = (await storage.migrations()).filter(({ applied_at }) => !applied_at).map(({ name }) => name)
      expect(pending).toEqual(MIGRATIONS.slice(index).map(({ name }) => name))
      await storage.close()
    }
    const service = await startService(url)
    onTestFinished(service.close)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
    const grace = await service.signIn('grace')
    const { conversations } = await grace.conversations.list({})
    const params = { conversation_id: conversations[0]!.id }
    expect((await grace.threads.list(params.conversation_id, {})).threads).toHaveLength(2)
    await grace.messages.postRoot(params.conversation_id, { content: 'Still here' })
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('gets an id for each identity, and counts the sign-in of a session as its confirmation', async () => {
    const url = await openUrl()
    const service = await startService(url)
    onTestFinished(service.close)
    await service.signIn('ada')
    const { db } = innerState(service)
    const created_at = Date.UTC(2026, 0, 1) * 1000 + 123
    await db.write(async (tx) => {
      // As before that migration.
      await tx.run(sql`DROP INDEX identities_by_id`)
      await tx.run(sql`ALTER TABLE identities DROP COLUMN id`)
      await tx.run(sql`ALTER TABLE sessions DROP COLUMN confirmed_at`)
      await tx.run(sql`DELETE FROM migrations WHERE name = '0008-confirmation'`)
      for (const subject of ['one', 'two', 'three'])
        await tx.run(
          statement(
            `INSERT INTO identities (provider, issuer, subject, user_id, created_at)
           SELECT 'p', 'https://issuer.example', ?, id, ${created_at} FROM users`,
            [subject],
          ),
        )
    })
    expect(await migrate(db)).toEqual(['0008-confirmation'])
    const ids = (await db.all<{ id: string }>(sql`SELECT id FROM identities`)).map(({ id }) => id)
    expect(new Set(ids).size).toBe(3)
    for (const id of ids) {
      expect(v.is(Id, id) ? 'an id' : id).toBe('an id')
      expect(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).toBe(Date.UTC(2026, 0, 1))
    }
    const sessions = await db.all<Record<string, number>>(sql`SELECT confirmed_at, issued_at FROM sessions`)
    expect(sessions[0]!.confirmed_at).toBe(sessions[0]!.issued_at)
  })

  it('keeps the inboxes and the mentions of messages when their rows become smaller', async () => {
    const service = await startService(await openUrl())
    onTestFinished(service.close)
    const { ada, grace, eve, conversation_id, root } = await startThread(service)
    await ada.participants.add(conversation_id, { user_id: eve.id })
    const named = await ada.messages.postRoot(conversation_id, {
      content: 'for @grace and @eve',
      mentions: { user_ids: [grace.id, eve.id] },
    })
    await ada.messages.postRoot(conversation_id, { content: 'for @all' })
    await grace.messages.reply(root.message_id, { content: 'to ada', quote_id: root.message_id })
    const direct = await ada.conversations.direct({ user_id: grace.id })
    await ada.messages.postRoot(direct.conversation_id, { content: 'only you' })
    const { notifications } = await grace.notifications.list()
    await grace.notifications.markRead({ ids: [notifications[1]!.id] })
    const inboxes = () => Promise.all([ada, grace, eve].map((person) => person.notifications.list()))
    const [before, threads] = [await inboxes(), (await ada.threads.list(conversation_id)).threads]

    const { db } = innerState(service)
    await db.write(withoutSmallRows)
    expect(await migrate(db)).toEqual(['0022-inboxes', '0056-notification-scopes', '0102-failing-webhooks'])
    expect(await inboxes()).toEqual(before)
    expect((await ada.threads.list(conversation_id)).threads).toEqual(threads)
    expect((await ada.messages.get(named.message_id)).mentions).toEqual({ user_ids: [grace.id, eve.id].sort() })
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('keeps sessions, whose replaced tokens are stored from then on', async () => {
    let now = Date.now() * 1000
    const service = await startService(await openUrl(), { ports: { now: () => now } })
    onTestFinished(service.close)
    const { email } = await service.signIn('ada')
    const before = await signInByHand(service.base_url, email, PASSWORD)
    const { db } = innerState(service)
    await db.write(async (tx) => {
      // As before that migration.
      await tx.run(sql`DROP TABLE rotated_tokens`)
      await tx.run(sql`DELETE FROM migrations WHERE name = '0009-rotated-tokens'`)
    })
    expect(await migrate(db)).toEqual(['0009-rotated-tokens'])
    const statusOf = async (headers: SignedHeaders) =>
      (await fetch(`${service.base_url}/api/auth/me`, { headers })).status
    expect(await statusOf(before)).toBe(200)
    const after = await refreshByHand(service.base_url, before)
    expect(await db.all(sql`SELECT session_id FROM rotated_tokens`)).toHaveLength(1)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
    now += 11_000_000
    expect([await statusOf(before), await statusOf(after)]).toEqual([401, 401])
    expect(await db.all(sql`SELECT session_id FROM rotated_tokens`)).toEqual([])
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

/** A database in which the transaction that would run a statement fails before that. */
function failingAt(db: Database, text: string): Database {
  const fail = () => Promise.reject(new Error('interrupted'))
  return {
    ...db,
    write: (work, options) =>
      db.write((tx) => work({ ...tx, run: (each) => (each.text === text ? fail() : tx.run(each)) }), options),
  }
}

/** Stores notifications and mentions as before the migration that made them smaller. */
async function withoutSmallRows(tx: Queries): Promise<void> {
  const notifications = await tx.all(
    sql`SELECT n.user_id, CASE WHEN n.kind IN ('direct', 'added') THEN n.id ELSE 'old-' || n.id END AS id, n.kind, n.at,
            coalesce(n.conversation_id, m.conversation_id) AS conversation_id, m.root_id, m.id AS message_id,
            coalesce(n.actor_user_id, m.posted_by) AS actor_user_id, n.count, n.since, n.read_at, n.hidden
       FROM notifications n LEFT JOIN messages m ON m.id = coalesce(n.message_id, n.id)`,
  )
  const messages = await tx.all<{ id: string; mentioned: string }>(
    sql`SELECT id, mentioned FROM messages WHERE mentioned IS NOT NULL`,
  )
  await tx.run(sql`DROP TABLE notifications`)
  await tx.run(sql`ALTER TABLE webhooks DROP COLUMN ahead`)
  await tx.run(sql`DROP INDEX messages_with_mentions`)
  await tx.run(sql`DROP INDEX users_without_receipts`)
  await tx.run(sql`ALTER TABLE messages DROP COLUMN mentioned`)
  const { statements } = MIGRATIONS.find(({ name }) => name === '0021-notifications')!
  for (const text of statements(COLUMN_TYPES[tx.dialect], tx.dialect))
    if (!text.startsWith('ALTER')) await tx.run(statement(text))
  const insert = (table: string, row: Row) =>
    tx.run(
      statement(
        `INSERT INTO ${table} (${Object.keys(row).join()}) VALUES (${Object.keys(row).map(() => '?')})`,
        Object.values(row),
      ),
    )
  for (const row of notifications) await insert('notifications', row)
  for (const { id, mentioned } of messages)
    for (const user_id of mentioned.split(',')) await insert('mentions', { message_id: id, user_id })
  await tx.run(sql`DELETE FROM migrations
      WHERE name IN ('0022-inboxes', '0056-notification-scopes', '0102-failing-webhooks')`)
}
