import { hostname } from 'node:os'
import { beforeAll, expect, it } from 'vitest'
import { VERSION } from '../../lib/core/version.ts'
import { createChatService, OPERATOR, openStorage, parseConfig } from '../../lib/index.ts'
import { databaseNow, sql } from '../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { setUpService } from '../support/describe-service.ts'
import { codeOf, innerState, type Person, startService } from '../support/service.ts'

describeOnEachDatabase('the list of processes', (openUrl) => {
  let url: string
  const service = setUpService(async () => {
    url = await openUrl()
    return startService(url)
  })
  let ada: Person
  beforeAll(async () => {
    ada = await service.signIn('ada')
  })

  it('names the process that responds, for administrators only', async () => {
    const { nodes } = await ada.nodes.list()
    const { id } = innerState(service).cluster
    expect(nodes).toEqual([
      {
        id,
        version: VERSION,
        host: hostname(),
        pid: process.pid,
        started_at: expect.any(String),
        beat_at: expect.any(String),
        streams: 0,
        self: true,
      },
    ])
    expect(Date.parse(nodes[0]!.beat_at)).toBeGreaterThanOrEqual(Date.parse(nodes[0]!.started_at))
    expect(await codeOf((await service.signIn('grace')).nodes.list())).toBe('forbidden')
  })

  it('does not name a command beside the service', async () => {
    const storage = await openStorage({ database: url })
    const command = createChatService(parseConfig(), storage)
    await command.start({ background: false })
    const { nodes } = await command.nodes.list(OPERATOR)
    expect(nodes.map(({ id, self }) => [id, self])).toEqual([[innerState(service).cluster.id, undefined]])
    expect((await ada.nodes.list()).nodes).toHaveLength(1)
    await command.close()
  })

  it('does not name the dead, and has at most 1,000 rows', async () => {
    const { cluster } = innerState(service)
    const { db } = cluster
    const insert = (prefix: string, count: number, age: number) =>
      db.run(
        sql`WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
         INSERT INTO nodes (id, version, started_at, beat_at, streams)
         SELECT ${prefix} || CAST(100000000000 + n AS TEXT), '1.0.0', CAST(${9_000_000_000_000_000} AS BIGINT),
                ${databaseNow(db.dialect)} - CAST(${age} AS BIGINT), 0 FROM numbers`,
      )
    await insert('00000000-0000-7000-8000-', 1, 11_000_000)
    expect((await ada.nodes.list()).nodes.map(({ id }) => id)).toEqual([cluster.id])
    await insert('00000000-0000-7000-9000-', 1_000, 0)
    const { nodes } = await ada.nodes.list()
    expect([nodes.length, nodes[0]!.id]).toEqual([1_000, cluster.id])
  })
})
