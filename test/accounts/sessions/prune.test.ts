import { expect, it } from 'vitest'
import { toInstant } from '../../../lib/core/time.ts'
import { SECOND } from '../../../lib/core/units.ts'
import { sql, statement } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { codeOf, innerState, PASSWORD, startService, times } from '../../support/service.ts'

const DAY = 24 * 60 * 60

describeOnEachDatabase('an expired session', (openUrl) => {
  it('is kept for a month, then deleted, in any number; live sessions stay', async () => {
    let now = Date.UTC(2026, 0, 1) * 1000
    const service = await startService(await openUrl(), {
      config: { session: { max_sessions_per_user: false, idle_seconds: DAY, absolute_seconds: 2 * DAY } },
      ports: { now: () => now, mail() {} },
    })
    const { chat } = service
    const { db } = innerState(chat)
    const ada = await service.signIn('ada')
    const actor = await chat.users.actor(ada.id)
    const old = await chat.auth.login({}, { email: ada.email, password: PASSWORD })
    await db.write(async (tx) => {
      // Twelve hundred more, as on a busy service.
      for (const id of times(1200, innerState(chat).id))
        await tx.run(
          sql`INSERT INTO sessions (id, user_id, token_hash, csrf_hash, issued_at, last_seen_at, idle_expires_at, absolute_expires_at)
           SELECT ${id}, user_id, ${id}, csrf_hash, issued_at, last_seen_at, idle_expires_at, absolute_expires_at FROM sessions WHERE id = ${old.session.id}`,
        )
    })
    for (const name of ['ends', 'ends too'])
      await chat.keys.create(actor, { name, expires_at: toInstant(now + DAY * SECOND) })
    await chat.keys.create(actor, { name: 'never ends' })
    await chat.resets.request({}, { email: ada.email })
    const counts = async () => {
      const found: Record<string, number> = {}
      for (const table of ['sessions', 'api_keys', 'password_resets'])
        found[table] = (await db.get<{ count: number }>(statement(`SELECT count(*) AS count FROM ${table}`)))!.count
      return found
    }

    await chat.ops.prune()
    expect(await counts()).toEqual({ sessions: 1202, api_keys: 3, password_resets: 1 })
    now += 31 * DAY * SECOND
    await chat.ops.prune()
    expect(await counts()).toEqual({ sessions: 1202, api_keys: 3, password_resets: 0 })
    const headers = new Headers({ cookie: `SESSION_ID=${old.token}` })
    expect(await codeOf(chat.auth.authenticate(headers))).toBe('session_expired')

    now += DAY * SECOND
    await chat.ops.prune()
    expect(await counts()).toEqual({ sessions: 1202, api_keys: 1, password_resets: 0 })
    now += 1
    await chat.auth.login({}, { email: ada.email, password: PASSWORD })
    await chat.ops.prune()
    expect(await counts()).toEqual({ sessions: 1, api_keys: 1, password_resets: 0 })
    expect(await codeOf(chat.auth.authenticate(headers))).toBe('unauthenticated')
    await service.close()
  })
})
