import { describe, expect, inject, it } from 'vitest'
import { copyPostgresDatabase, createSqliteFile } from '../support/databases.ts'
import { createRandom, newSeed } from './random.ts'
import { crashWebhooks } from './webhook-crashes.ts'

describe.concurrent('webhooks of a process that is killed', () => {
  it.for(['sqlite', 'postgresql'] as const)(
    'get every event, and few of them twice (%s)',
    { timeout: 150_000 },
    async (dialect, { skip }) => {
      if (dialect === 'postgresql' && !inject('postgres_url')) skip('PostgreSQL is not installed')
      const seed = newSeed()
      console.log(`seed ${seed} (${dialect})`)
      const database = await (dialect === 'sqlite' ? createSqliteFile() : copyPostgresDatabase())
      try {
        const options = { kills: 2, messages: 600, random: createRandom(seed) }
        const { messages, missing, repeated } = await crashWebhooks({ url: database.url, ...options })
        console.log(`${repeated} of ${messages} twice`)
        expect(messages).toBeGreaterThanOrEqual(1_200)
        expect(missing).toBe(0)
        // A busy machine stores late what was taken: the figure is that of `npm run fault:webhooks`.
        expect(repeated).toBeLessThan(messages / 10)
      } finally {
        await database.remove()
      }
    },
  )
})
