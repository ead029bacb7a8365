import { readFileSync } from 'node:fs'
import pg from 'pg'
import * as v from 'valibot'
import { expect, it, onTestFinished } from 'vitest'
import { Id } from '../../lib/core/schema.ts'
import { openStorage } from '../../lib/storage/open.ts'
import { migrate } from '../../lib/storage/schema/migrate.ts'
import { COLUMN_TYPES, MIGRATIONS } from '../../lib/storage/schema/migrations.ts'
import { type Dialect, describeOnEachEmptyDatabase } from '../support/databases.ts'
import { PASSWORD, startService } from '../support/service.ts'
import { refreshByHand, type SignedHeaders, signInByHand } from '../support/stream.ts'
import { runProcess } from './child.ts'
import { fileOf, openHandle } from './handles.ts'

/**
 * Databases of the first schema, as SQL: two threads, with an edited message, a deleted one, a read marker, and a used
 * invite.
 */
const dumpOf = (dialect: Dialect) => readFileSync(new URL(`upgrade/${dialect}.sql`, import.meta.url), 'utf8')

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

  it('is completed after each migration was interrupted at its last statement', { timeout: 120_000 }, async () => {
    const url = await openUrl()
    await load(url)
    for (const [index, step] of MIGRATIONS.entries()) {
      if (index === 0) continue
      const last = step.statements(COLUMN_TYPES[dialect], dialect).at(-1)
      // One for the other database.
      if (last === undefined) continue
      expect(await runProcess('migrate', url, last)).toEqual({ signal: 'SIGKILL', output: '' })
      const storage = await openStorage({ database: url })
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
    const { db } = service.chat.context
    const created_at = Date.UTC(2026, 0, 1) * 1000 + 123
    await db.write(async (tx) => {
      // As before that migration.
      await tx.run('DROP INDEX identities_by_id')
      await tx.run('ALTER TABLE identities DROP COLUMN id')
      await tx.run('ALTER TABLE sessions DROP COLUMN confirmed_at')
      await tx.run("DELETE FROM migrations WHERE name = '0008-confirmation'")
      for (const subject of ['one', 'two', 'three'])
        await tx.run(
          `INSERT INTO identities (provider, issuer, subject, user_id, created_at)
           SELECT 'p', 'https://issuer.example', ?, id, ${created_at} FROM users`,
          subject,
        )
    })
    expect(await migrate(db)).toEqual(['0008-confirmation'])
    const ids = (await db.all<{ id: string }>('SELECT id FROM identities')).map(({ id }) => id)
    expect(new Set(ids).size).toBe(3)
    for (const id of ids) {
      expect(v.is(Id, id) ? 'an id' : id).toBe('an id')
      expect(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).toBe(Date.UTC(2026, 0, 1))
    }
    const sessions = await db.all<Record<string, number>>('SELECT confirmed_at, issued_at FROM sessions')
    expect(sessions[0]!.confirmed_at).toBe(sessions[0]!.issued_at)
  })

  it('keeps sessions, whose replaced tokens are stored from then on', async () => {
    let now = Date.now() * 1000
    const service = await startService(await openUrl(), { ports: { now: () => now } })
    onTestFinished(service.close)
    const { email } = await service.signIn('ada')
    const before = await signInByHand(service.base_url, email, PASSWORD)
    const { db } = service.chat.context
    await db.write(async (tx) => {
      // As before that migration.
      await tx.run('DROP TABLE rotated_tokens')
      await tx.run("DELETE FROM migrations WHERE name = '0009-rotated-tokens'")
    })
    expect(await migrate(db)).toEqual(['0009-rotated-tokens'])
    const statusOf = async (headers: SignedHeaders) =>
      (await fetch(`${service.base_url}/api/auth/me`, { headers })).status
    expect(await statusOf(before)).toBe(200)
    const after = await refreshByHand(service.base_url, before)
    expect(await db.all('SELECT session_id FROM rotated_tokens')).toHaveLength(1)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
    now += 11_000_000
    expect([await statusOf(before), await statusOf(after)]).toEqual([401, 401])
    expect(await db.all('SELECT session_id FROM rotated_tokens')).toEqual([])
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
