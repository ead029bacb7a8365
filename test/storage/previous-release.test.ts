import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { newId } from '../../lib/core/ids.ts'
import type { Database } from '../../lib/storage/database.ts'
import { openStorage } from '../../lib/storage/open.ts'
import { toChecksum } from '../../lib/storage/schema/migrate.ts'
import { COLUMN_TYPES, MAJOR, MIGRATIONS } from '../../lib/storage/schema/migrations.ts'
import { MIGRATIONS_TABLE } from '../../lib/storage/schema/shape.ts'
import { sql, statement } from '../../lib/storage/sql.ts'
import { type Dialect, describeOnEachEmptyDatabase } from '../support/databases.ts'
import { ROOT } from '../support/example.ts'
import { startService } from '../support/service.ts'
import { recordStatements, type Step } from './release/record.ts'
import { breaksOf, readStructure } from './release/structure.ts'

/**
 * The release whose processes run beside those of this version, the last migration it knows, and the major version of its
 * schema. `release/*.jsonl` has the statements that it runs: record those of a new release (`.github/CONTRIBUTING.md`).
 */
const PREVIOUS = { version: '0.3', last: '0043-audit-about', major: 1 }

/** Migrations that changed tables which no release had yet: nothing may be added here. */
const UNRELEASED: Record<string, string[]> = {}

const KNOWN = MIGRATIONS.findIndex(({ name }) => name === PREVIOUS.last) + 1

const fileOf = (dialect: Dialect) => new URL(`release/${dialect}.jsonl`, import.meta.url)

/** With `RECORD=1`, the statements of this version replace those of the previous release. */
const isRecording = process.env.RECORD === '1'

it('is the last one of the changelog, whose schema has the same major version', () => {
  const changelog = readFileSync(`${ROOT}/docs/changelog.md`, 'utf8')
  const [released] = [...changelog.matchAll(/^## (\d+\.\d+)\./gm)]
  expect(released![1]).toBe(PREVIOUS.version)
  // Processes of another major version refuse the database: then nothing here is about them.
  expect(MAJOR).toBe(PREVIOUS.major)
})

describeOnEachEmptyDatabase('beside processes of the previous release', (openUrl, dialect) => {
  it('each migration only adds', async () => {
    const db = await opened()
    await apply(db, 0, KNOWN)
    for (let step = KNOWN; step < MIGRATIONS.length; step++) {
      const { name } = MIGRATIONS[step]!
      const before = await readStructure(db)
      for (const table of UNRELEASED[name] ?? []) before.delete(table)
      await apply(db, step, step + 1)
      expect([name, breaksOf(before, await readStructure(db))]).toEqual([name, []])
    }
  })

  it('their statements have the results that they have on their own schema, while it is migrated and afterwards', {
    timeout: 60_000,
  }, async () => {
    const steps = stepsOf(dialect)
    const [own, newest, between] = [await opened(), await opened(), await opened()]
    await apply(own, 0, KNOWN)
    const results = await replay(own, steps)
    expect(results.filter((result) => typeof result === 'string')).toEqual([])
    expect(results.length).toBeGreaterThan(300)

    await apply(newest, 0, MIGRATIONS.length)
    expect(await replay(newest, steps)).toEqual(results)

    await apply(between, 0, KNOWN)
    const share = Math.ceil(steps.length / (MIGRATIONS.length - KNOWN + 1))
    const seen: unknown[] = []
    for (let step = KNOWN; step <= MIGRATIONS.length; step++) {
      seen.push(...(await replay(between, steps.slice(seen.length, seen.length + share))))
      if (step < MIGRATIONS.length) await apply(between, step, step + 1)
    }
    expect(seen).toEqual(results)
  })

  it('this version finds what they have stored', { timeout: 60_000 }, async () => {
    const url = await openUrl()
    const { db, close } = await openStorage({ database: url })
    await apply(db, 0, MIGRATIONS.length)
    await replay(db, stepsOf(dialect))
    await close()
    const service = await startService(url)
    onTestFinished(service.close)
    // What the guide to the upgrade names: counts that those processes do not know.
    const { findings } = await service.chat.ops.fsck()
    expect(findings.filter(({ remedy }) => !remedy?.includes('fsck --repair'))).toEqual([])
    await service.chat.ops.fsck({ repair: true })
    expect((await service.chat.ops.fsck()).findings).toEqual([])
    const ada = await service.signIn('ada')
    const { conversations } = await ada.conversations.list({})
    expect(conversations).toMatchObject([{ direct: true }, { title: 'Machines' }])
    const { results } = await ada.search.messages({ q: 'loom' })
    expect(results).toMatchObject([{ message: { content: '@grace the loom works' } }])
  })

  it('statements are recorded of a service that is used', { timeout: 60_000 }, async () => {
    const steps = await recordStatements(await openUrl())
    if (isRecording) writeFileSync(fileOf(dialect), steps.map((step) => `${JSON.stringify(step)}\n`).join(''))
    const db = await opened()
    await apply(db, 0, MIGRATIONS.length)
    expect((await replay(db, steps)).filter((result) => typeof result === 'string')).toEqual([])
  })

  describe('a migration is refused that', () => {
    it.each(breaking(dialect))('%s', async (_, statements, found) => {
      const db = await opened()
      await apply(db, 0, KNOWN)
      const before = await readStructure(db)
      for (const text of statements) await db.run(statement(text))
      expect(breaksOf(before, await readStructure(db))).toEqual([expect.stringMatching(found)])
    })

    it('makes one of their statements fail', async () => {
      const db = await opened()
      await apply(db, 0, KNOWN)
      await db.run(sql`CREATE UNIQUE INDEX one_title ON messages (conversation_id)`)
      const failed = (await replay(db, stepsOf(dialect))).filter((result) => typeof result === 'string')
      expect(failed.length).toBeGreaterThan(0)
    })
  })

  async function opened(): Promise<Database> {
    const storage = await openStorage({ database: await openUrl() })
    onTestFinished(() => storage.close())
    return storage.db
  }
})

/** Changes that old processes cannot live with. */
function breaking(dialect: Dialect): [title: string, statements: string[], found: RegExp][] {
  const dropped = ['DROP INDEX messages_by_reasoner', 'ALTER TABLE messages DROP COLUMN delete_reason']
  const retyped =
    dialect === 'sqlite'
      ? [...dropped, 'ALTER TABLE messages ADD COLUMN delete_reason INTEGER']
      : ['ALTER TABLE messages ALTER COLUMN delete_reason TYPE INTEGER USING NULL']
  return [
    ['drops a table', ['DROP TABLE setup'], /^setup: the table is dropped$/],
    ['renames a table', ['ALTER TABLE setup RENAME TO first_use'], /^setup: the table is dropped$/],
    ['drops a column', dropped, /^messages\.delete_reason: .* dropped$/],
    [
      'renames a column',
      ['ALTER TABLE messages RENAME COLUMN delete_reason TO reason'],
      /^messages\.delete_reason: .* dropped$/,
    ],
    ['changes a type', retyped, /^messages\.delete_reason: the type was TEXT.*INTEGER/i],
    [
      'lets a value occur once',
      ['CREATE UNIQUE INDEX one_title ON conversations (title)'],
      /^conversations: CREATE UNIQUE INDEX one_title/,
    ],
    [
      'lets a value occur once with a default',
      [
        "ALTER TABLE conversations ADD COLUMN kind TEXT NOT NULL DEFAULT 'x'",
        'CREATE UNIQUE INDEX one_title ON conversations (title, kind)',
      ],
      /^conversations: CREATE UNIQUE INDEX one_title/,
    ],
    ...(dialect === 'sqlite'
      ? []
      : ([
          [
            'adds a required column',
            ['ALTER TABLE setup ADD COLUMN kind TEXT NOT NULL'],
            /^setup\.kind: it is required$/,
          ],
          [
            'checks values of before',
            ['ALTER TABLE conversations ADD CONSTRAINT short CHECK (length(title) < 9)'],
            /^conversations: CHECK/,
          ],
        ] as [string, string[], RegExp][])),
  ]
}

function stepsOf(dialect: Dialect): Step[] {
  return readFileSync(fileOf(dialect), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Step)
}

/** What leases and due times decide, and so the speed of the machine: only whether the statement works is compared. */
const TIMED = /\b(tasks|nodes|signals|revocations|answers_under_way)\b|unixepoch|clock_timestamp/

/** Of each statement the number of its rows, or of those that it changed; its error as a text. */
async function replay(db: Database, steps: Step[]): Promise<(number | string)[]> {
  const results: (number | string)[] = []
  for (const [kind, sql, params] of steps) {
    const run = async () =>
      kind === 'changed' ? db.run(statement(sql, params)) : (await db.all(statement(sql, params))).length
    const result = await run().catch((error: Error) => `${sql}: ${error.message}`)
    results.push(TIMED.test(sql) && typeof result === 'number' ? 0 : result)
  }
  return results
}

/** Applies these migrations, as `migrate` does all of them. */
async function apply(db: Database, from: number, to: number): Promise<void> {
  await db.write(async (tx) => {
    await tx.run(statement(MIGRATIONS_TABLE))
    for (const [index, migration] of MIGRATIONS.entries()) {
      if (index < from || index >= to) continue
      for (const text of migration.statements(COLUMN_TYPES[db.dialect], db.dialect)) await tx.run(statement(text))
      if (index === 0) await tx.run(sql`INSERT INTO meta (name, value) VALUES ('epoch', ${newId()})`)
      await tx.run(
        sql`INSERT INTO migrations (id, name, checksum, applied_at) VALUES (${index + 1}, ${migration.name}, ${toChecksum(migration, db.dialect)}, 0)`,
      )
    }
  })
}
