import { describe, expect, it } from 'vitest'
import { withVisible } from '../../../lib/storage/archive/visible.ts'
import { createNames } from '../../../lib/storage/names/names.ts'
import { COLUMN_TYPES, MIGRATIONS } from '../../../lib/storage/schema/migrations.ts'
import { shapeAfter } from '../../../lib/storage/schema/shape.ts'

const PREFIXED = createNames({ prefix: 'chat_' })!
const PLACED = createNames({ schema: 'chat' })!
const BOTH = createNames({ schema: 'chat', prefix: 'x_' })!

describe('a statement', () => {
  it.each([
    ['SELECT id FROM users WHERE users.id = ?', 'SELECT id FROM chat_users WHERE chat_users.id = ?'],
    [
      'SELECT 1 FROM users u, sessions s WHERE u.id = s.id',
      'SELECT 1 FROM chat_users u, chat_sessions s WHERE u.id = s.id',
    ],
    ['SELECT count(*) AS messages, events FROM x', 'SELECT count(*) AS messages, events FROM x'],
    ["SELECT 'from users' FROM tasks -- FROM users", "SELECT 'from users' FROM chat_tasks -- FROM users"],
    ['SELECT m.users, "users" FROM messages m /* users */', 'SELECT m.users, "users" FROM chat_messages m /* users */'],
    ["UPDATE meta SET value = '' WHERE name = 'users'", "UPDATE chat_meta SET value = '' WHERE name = 'users'"],
    ['SELECT 1 FROM main.threads t', 'SELECT 1 FROM main.chat_threads t'],
    ['SELECT pg_advisory_xact_lock(?)', expect.stringMatching(/^SELECT pg_advisory_xact_lock\(\?, -?\d+\)$/)],
    ['SELECT current_schema()', 'SELECT current_schema()'],
    [
      "SELECT seq FROM sqlite_sequence WHERE name = 'events'",
      "SELECT seq FROM sqlite_sequence WHERE name = 'chat_events'",
    ],
  ])('names tables with a prefix: %s', (plain, qualified) => {
    expect(PREFIXED.qualify(plain)).toEqual(qualified)
  })

  it.each([
    ['SELECT id FROM users WHERE users.id = ?', 'SELECT id FROM "chat".users WHERE users.id = ?'],
    ['LOCK TABLE users, events', 'LOCK TABLE "chat".users, "chat".events'],
    ['CREATE UNIQUE INDEX a_b ON users (id)', 'CREATE UNIQUE INDEX a_b ON "chat".users (id)'],
    ['DROP INDEX a_b', 'DROP INDEX "chat".a_b'],
    ["SELECT to_regclass('nodes')", 'SELECT to_regclass(\'"chat".nodes\')'],
    ['SELECT current_schema()', "SELECT 'chat'"],
    [
      'WITH users AS (SELECT * FROM users), x AS (SELECT 1 FROM users) SELECT 1 FROM users, events',
      'WITH users AS (SELECT * FROM "chat".users), x AS (SELECT 1 FROM users) SELECT 1 FROM users, "chat".events',
    ],
  ])('names tables in a schema: %s', (plain, qualified) => {
    expect(PLACED.qualify(plain)).toBe(qualified)
  })

  it('has no plain name of a table left in any migration', () => {
    for (const dialect of ['sqlite', 'postgresql'] as const) {
      const tables = [...shapeAfter(MIGRATIONS.length, dialect).tables.keys()].join('|')
      const plain = new RegExp(`\\b(FROM|JOIN|INTO|UPDATE|TABLE|REFERENCES|ON)\\s+(${tables})\\b`)
      for (const { statements } of MIGRATIONS)
        for (const statement of statements(COLUMN_TYPES[dialect], dialect))
          for (const names of dialect === 'sqlite' ? [PREFIXED] : [PREFIXED, PLACED, BOTH])
            expect(names.qualify(statement)).not.toMatch(plain)
    }
  })

  it('uses views of a WITH instead of the tables', () => {
    const sql = PLACED.qualify(`${withVisible('postgresql').text}SELECT 1 FROM events e JOIN users u ON true`)
    expect(sql).toMatch(/SELECT 1 FROM events e JOIN "chat"\.users u ON true$/)
    expect(sql).toContain('conversations AS NOT MATERIALIZED (SELECT * FROM "chat".conversations AS one')
  })
})

describe('a placement', () => {
  it('is none for an empty schema and an empty prefix', () => {
    expect(createNames({ schema: '', prefix: '' })).toBeUndefined()
  })

  it.each([
    [{ prefix: 'Chat_' }, 'small letters'],
    [{ prefix: 'sqlite_' }, 'must not begin with'],
    [{ prefix: 'x'.repeat(31) }, 'at most 30'],
    [{ schema: 'a"b' }, 'small letters'],
    [{ schema: 'pg_toast' }, "PostgreSQL's own"],
  ])('is refused: %j', (placement, says) => {
    expect(() => createNames(placement)).toThrow(says)
  })

  it('leaves room for the longest name of an index in the 63 bytes of PostgreSQL', () => {
    const { tables, indexes } = shapeAfter(MIGRATIONS.length, 'postgresql')
    for (const name of [...tables.keys(), ...indexes.keys()]) expect(30 + name.length).toBeLessThanOrEqual(63)
  })
})
