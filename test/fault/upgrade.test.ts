import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { createPostgresDatabase } from '../support/databases.ts'
import { buildNextVersion } from '../support/next-version.ts'
import { startBalancer } from './balancer.ts'
import { inconsistenciesIn } from './invariants.ts'
import { signInAt } from './people.ts'
import { type ServeProcess, startServe } from './serving.ts'
import { underLoad } from './under-load.ts'

/** Longer than the balancer needs to notice that a service is stopping. */
const ENV = { CHAT_SERVER__DRAIN_DELAY_SECONDS: '1' }

/** Locks the tables of each post as a whole, in an order in which no post locks their rows. */
const ADDING = {
  name: '9998-adding',
  statements: [
    ...['messages', 'events', 'participants', 'conversations'].map(
      (table) => `ALTER TABLE ${table} ADD COLUMN of_next_version BIGINT NOT NULL DEFAULT 0`,
    ),
    'CREATE INDEX messages_of_next_version ON messages (of_next_version, id)',
    'CREATE TABLE next_version (id BIGINT PRIMARY KEY)',
  ],
}

const MAJOR = { name: '9999-major', major: 10, statements: ['CREATE TABLE next_major (id BIGINT PRIMARY KEY)'] }

describe.skipIf(!inject('postgres_url'))('nodes whose schema is migrated by a newer version under load', () => {
  it('fail no request, and start again unless the major version is another one', { timeout: 120_000 }, async () => {
    const [minor, major] = [await build('9.1.0', [ADDING]), await build('10.0.0', [ADDING, MAJOR])]
    const { url, base_url, start, stop } = await openStage()
    const first = await start()
    await underLoad(base_url, async (progress) => {
      await progress()
      const newer = await start(minor)
      expect(newer.log()).toContain(ADDING.name)
      await progress()
      const { nodes } = await (await signInAt(first.base_url)).nodes.list()
      expect(nodes.map(({ version }) => version)).toEqual([expect.any(String), '9.1.0'])
      await stop(first)
      // As a worker that has died, or after a rollback.
      const again = await start()
      await progress()
      await start(major)
      await progress()
      await expect(startServe(url, { env: ENV })).rejects.toThrow('is newer than this program can use')
      await stop(again)
    })
    expect(await inconsistenciesIn(url, { session: { max_sessions_per_user: false } })).toEqual([])
  })
})

async function build(...args: Parameters<typeof buildNextVersion>): Promise<string> {
  const { program, remove } = await buildNextVersion(...args)
  onTestFinished(remove)
  return program
}

/** A database, and a balancer in front of the services that are started. */
async function openStage() {
  const { url, remove } = await createPostgresDatabase()
  onTestFinished(remove)
  const balancer = await startBalancer()
  onTestFinished(() => balancer.close())
  const servers: ServeProcess[] = []
  // Runs before the database is removed.
  onTestFinished(async () => {
    for (const server of servers) server.signal('SIGKILL')
    await Promise.all(servers.map(({ exit }) => exit))
  })

  return {
    ...{ url, base_url: balancer.base_url },
    /** @param program default: this version */
    async start(program?: string): Promise<ServeProcess> {
      const server = await startServe(url, { env: ENV, ...(program && { program }) })
      servers.push(server)
      await balancer.add(server.port)
      return server
    },
    async stop(server: ServeProcess): Promise<void> {
      server.signal('SIGTERM')
      expect(await server.exit).toBe(0)
      balancer.remove(server.port)
    },
  }
}
