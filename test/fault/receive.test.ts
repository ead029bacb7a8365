import { describe, expect, inject, it } from 'vitest'
import { createPostgresDatabase, createSqliteFile } from '../support/databases.ts'
import { createRandom, newSeed } from './random.ts'
import { crashReceive, type ReceiveMode } from './receive-crashes.ts'

const CREATORS = { sqlite: createSqliteFile, postgresql: createPostgresDatabase }

type Kind = keyof typeof CREATORS

/** How events come, the databases of the service and of the receiver, and how often each side is killed. */
const RUNS: [mode: ReceiveMode, service: Kind, receiver: Kind, kills: number][] = [
  ['pull', 'sqlite', 'postgresql', 2],
  ['push', 'postgresql', 'sqlite', 1],
  ['both', 'postgresql', 'postgresql', 1],
]

// Together: most of the time, each waits for what comes again.
describe.concurrent('a receiver and a service that are killed, with a proxy that loses calls between them', () => {
  it.for(RUNS)(
    'apply each event once: %s, %s to %s',
    { timeout: 240_000 },
    async ([mode, service, receiver, kills], { skip, onTestFinished }) => {
      if ([service, receiver].includes('postgresql') && inject('postgres_url') === null) skip('needs PostgreSQL')
      const seed = newSeed()
      console.log(`seed ${seed}`)
      const databases = [await CREATORS[service](), await CREATORS[receiver]()] as const
      onTestFinished(async () => void (await Promise.all(databases.map((database) => database.remove()))))
      const figures = await crashReceive({
        ...{ mode, service: databases[0].url, receiver: databases[1].url },
        ...{ events: 200, kills, random: createRandom(seed) },
      })
      expect(figures.faults).toEqual([])
      expect(figures.events).toBeGreaterThanOrEqual(200)
    },
  )
})
