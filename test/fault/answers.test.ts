import { describe, expect, inject, it } from 'vitest'
import { copyPostgresDatabase, createSqliteFile } from '../support/databases.ts'
import { crashAnswers } from './answer-crashes.ts'
import { createRandom, newSeed } from './random.ts'

// Concurrent: most of the time is spent waiting for a lease to expire.
describe.concurrent('answers of a process that is killed', () => {
  it.for([
    ['started again', 'sqlite', 1],
    ['started again', 'postgresql', 1],
    ['survived by another', 'postgresql', 2],
  ] as const)(
    'end within 15 s, as their readers saw them, when it is %s (%s)',
    { timeout: 60_000 },
    async ([, dialect, nodes], { skip }) => {
      if (dialect === 'postgresql' && !inject('postgres_url')) skip('PostgreSQL is not installed')
      const seed = newSeed()
      console.log(`seed ${seed} (${dialect}, ${nodes})`)
      const database = await (dialect === 'sqlite' ? createSqliteFile() : copyPostgresDatabase())
      try {
        const figures = await crashAnswers({ url: database.url, nodes, cycles: 1, random: createRandom(seed) })
        expect(figures.faults).toEqual([])
        expect(figures.interrupted).toBeGreaterThan(0)
        expect(figures.texts).toBeGreaterThan(1)
      } finally {
        await database.remove()
      }
    },
  )
})
