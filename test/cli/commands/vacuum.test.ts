import { statSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { expect, inject, it } from 'vitest'
import { createPostgresDatabase } from '../../support/databases.ts'
import { folder, run } from '../process.ts'

const LONG = { timeout: 120_000 }
const env = { CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4' }
const setup = ['setup', '--email', 'ada@example.org']
const input = 'correct horse battery'

it('vacuum shrinks a SQLite file, and refuses one in use', LONG, async () => {
  const cwd = folder()
  await run(setup, { cwd, env, input })
  const file = join(cwd, 'data', 'chat.db')
  const other = new Sqlite(file)
  other.exec(
    'CREATE TABLE ballast AS SELECT randomblob(4000000) AS bytes; DROP TABLE ballast; PRAGMA wal_checkpoint(TRUNCATE)',
  )
  const before = statSync(file).size
  const refused = await run(['vacuum'], { cwd })
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining('is in use: stop the service first, or add --force'),
  ])
  expect(statSync(file).size).toBe(before)
  expect((await run(['user', 'list'], { cwd })).stdout).toContain('ada@example.org')
  const forced = JSON.parse((await run(['vacuum', '--force', '--json'], { cwd })).stdout)
  expect(forced).toMatchObject({ before_bytes: before, freed_bytes: expect.any(Number) })
  expect(forced.freed_bytes).toBeGreaterThan(3_000_000)
  other.close()
  const again = await run(['vacuum'], { cwd })
  expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/^0 MiB were freed: /) })
  expect(again.stderr).toMatch(/^VACUUM writes \d+ MiB of \d+ MiB anew: about \d+ s; it needs up to \d+ MiB next to it/)
  expect(statSync(file).size).toBe(forced.after_bytes)
  expect((await run(['fsck'], { cwd })).code).toBe(0)
})

it.skipIf(!inject('postgres_url'))('vacuum runs on PostgreSQL', LONG, async () => {
  const { url, remove } = await createPostgresDatabase()
  const options = { cwd: folder(), env: { ...env, CHAT_DATABASE__URL: url } }
  await run(setup, { ...options, input })
  const { code, stdout } = await run(['vacuum', '--json'], options)
  expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ before_bytes: expect.any(Number) })])
  await remove()
})
