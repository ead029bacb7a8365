import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { isOutOfTime } from '../../lib/storage/errors.ts'
import { openStorage } from '../../lib/storage/open.ts'
import { sql } from '../../lib/storage/sql.ts'
import { createPostgresDatabase } from '../support/databases.ts'
import { pgbouncer, startPgBouncer } from '../support/pgbouncer.ts'
import { PASSWORD, startService, startThread, times } from '../support/service.ts'
import { openStream, signInByHand } from '../support/stream.ts'

const why = !inject('postgres_url') ? 'PostgreSQL is not installed' : pgbouncer ? '' : 'PgBouncer is not installed'

describe.skipIf(why).each(['transaction', 'session'] as const)(
  `behind PgBouncer${why && `: skipped, ${why}`}`,
  (mode) => {
    async function open() {
      const { url, remove } = await createPostgresDatabase()
      onTestFinished(remove)
      const pooler = await startPgBouncer(url, mode)
      onTestFinished(() => pooler.stop())
      return { direct: url, pooled: pooler.url }
    }

    it(`two nodes serve calls, streams and transactions at once (pool_mode = ${mode})`, async () => {
      const { pooled } = await open()
      const [one, two] = [await startService(pooled), await startService(pooled)]
      onTestFinished(() => one.close())
      onTestFinished(() => two.close())
      const { ada, grace, conversation_id, root } = await startThread(one)
      const { cookie } = await signInByHand(two.base_url, grace.email, PASSWORD)
      const stream = await openStream(two.base_url, conversation_id, { cookie: cookie! })
      await stream.until('stream.ready')
      const reply = (content: string) => ada.messages.reply(root.message_id, { content })
      await Promise.all(times(30, (index) => reply(`reply ${index}`)))
      for (const _ of times(30, () => 0)) await stream.until('message.new')
      await stream.close()
      await one.chat.idle()
      const found = await Promise.all(times(10, (n) => ada.search.messages({ q: `"reply ${n}"` })))
      expect(found.map(({ results }) => results.length)).toEqual(times(10, () => 1))
      expect((await one.chat.ops.fsck()).findings).toEqual([])
    })

    it(`transactions have their timeouts, and leave none to others (pool_mode = ${mode})`, async () => {
      const { direct, pooled } = await open()
      const { db } = await openStorage({ database: pooled, strict: true })
      onTestFinished(() => db.close())
      const limits = async (tx: Pick<typeof db, 'get'>) =>
        (await tx.get<{
          statement: string
          lock: string
          idle: string
        }>(sql`SELECT current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock,
                     current_setting('idle_in_transaction_session_timeout') AS idle`))!
      for (const run of [db.write, db.snapshot]) {
        expect(await run(limits)).toEqual({ statement: '10s', lock: '5s', idle: '2s' })
        expect(await run(limits, { timeout: false })).toEqual({ statement: '0', lock: '0', idle: '2s' })
      }
      // As of a search, whose statements end with its time.
      expect(await db.snapshot(limits, { timeout: 321.5, by_index: true })).toMatchObject({
        statement: '322ms',
        lock: '5s',
      })
      const endless = db.snapshot((tx) => tx.get(sql`SELECT pg_sleep(60)`), { timeout: 50 })
      expect(isOutOfTime(await endless.catch((error: unknown) => error))).toBe(true)
      // Of both connections to the server.
      const others = await Promise.all(times(4, () => db.write(limits)))
      expect(new Set(others.map(({ statement }) => statement))).toEqual(new Set(['10s']))
      expect(await limits(db)).toEqual({ statement: '0', lock: '0', idle: '0' })
      const without = await openStorage({ database: direct })
      onTestFinished(() => without.close())
      expect(await limits(without.db)).toEqual({ statement: '10s', lock: '5s', idle: '0' })
    })
  },
)
