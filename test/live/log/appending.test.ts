import { beforeAll, expect, it } from 'vitest'
import { type Addition, appendEvents } from '../../../lib/live/log/appending.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { innerState, startService } from '../../support/service.ts'

describeOnEachDatabase('the lines that a transaction appends to logs', (openUrl) => {
  const service = setUpService(async () => startService(await openUrl()))
  let ids: string[]
  beforeAll(async () => {
    const ada = await service.signIn('ada')
    ids = [(await ada.conversations.create()).conversation_id, (await ada.conversations.create()).conversation_id]
    // No part of the service changes the log from here on.
    await innerState(service).streams.poller.stop()
  })

  const add = (...counts: number[]): Addition[] =>
    counts.map((count, n) => {
      const events = Array.from({ length: count }, () => ({ type: 'conversation.updated' }) as const)
      return { conversation_id: ids[n]!, at: 1, events, messages: 0, roots: 0 }
    })

  /** What a transaction reports of its lines, and what is stored of them. */
  async function append(...counts: number[]) {
    const { db } = innerState(service)
    const { rows } = await db.write((tx) => appendEvents(tx, add(...counts)))
    const stored = await db.all(sql`SELECT id, conversation_id, seq FROM events WHERE id >= ${rows[0]!.id} ORDER BY id`)
    return { reported: rows.map(({ id, conversation_id, seq }) => ({ id, conversation_id, seq })), stored }
  }

  it('have the ids by which they are stored, in several conversations', async () => {
    const { reported, stored } = await append(2, 3)
    expect(reported).toHaveLength(5)
    expect(reported).toEqual(stored)
  })

  it('have new ids when the latest lines were removed', async () => {
    const before = await append(1, 2)
    const { db } = innerState(service)
    await db.run(sql`DELETE FROM events WHERE id >= ${before.reported[0]!.id}`)
    const { reported, stored } = await append(2)
    expect(reported).toEqual(stored)
    expect(reported[0]!.id).toBeGreaterThan(before.reported.at(-1)!.id)
  })
})
