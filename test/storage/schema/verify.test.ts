import { existsSync, rmSync } from 'node:fs'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { createChatService, openStorage, parseConfig, restoreStorage } from '../../../lib/index.ts'
import { listChanges } from '../../../lib/storage/schema/verify.ts'
import { createSqliteFile, type Dialect, describeOnEachEmptyDatabase } from '../../support/databases.ts'
import { fileOf, openHandle } from '../handles.ts'

/** Modifications of the service's tables, and their descriptions in the error. */
const CHANGES: Record<string, { sqlite: string; postgresql?: string; says: string }> = {
  'a trigger': {
    sqlite: 'CREATE TRIGGER spy AFTER INSERT ON messages BEGIN DELETE FROM audit_log; END',
    postgresql: `CREATE FUNCTION spy() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
      CREATE TRIGGER spy AFTER INSERT ON messages FOR EACH ROW EXECUTE FUNCTION spy()`,
    says: 'the trigger spy on messages',
  },
  'a trigger with the name of a table of the search': {
    sqlite: 'CREATE TRIGGER search_index_7 AFTER INSERT ON messages BEGIN DELETE FROM audit_log; END',
    postgresql: `CREATE FUNCTION spy() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
      CREATE TRIGGER search_index_7 AFTER INSERT ON messages FOR EACH ROW EXECUTE FUNCTION spy()`,
    says: 'the trigger search_index_7 on messages',
  },
  'a view in the place of a table': {
    sqlite:
      'DROP TABLE known_devices; CREATE VIEW known_devices AS SELECT 1 AS token_hash, 2 AS user_id, 3 AS expires_at',
    says: 'the view known_devices',
  },
  'another column': { sqlite: 'ALTER TABLE users ADD COLUMN shoe_size INTEGER', says: 'the column shoe_size of users' },
  'a computed column': {
    sqlite: "ALTER TABLE users ADD COLUMN twice TEXT AS (username || 'x')",
    postgresql: "ALTER TABLE users ADD COLUMN twice TEXT GENERATED ALWAYS AS (username || 'x') STORED",
    says: 'the column twice (computed) of users',
  },
  'a column less': { sqlite: 'ALTER TABLE messages DROP COLUMN edited_at', says: 'no column edited_at of messages' },
  'a table less': { sqlite: 'DROP TABLE audit_log', says: 'no table audit_log' },
  'an index less': { sqlite: 'DROP INDEX messages_by_arrival', says: 'no index messages_by_arrival' },
  'a unique index': {
    sqlite: 'CREATE UNIQUE INDEX one_title ON conversations (title)',
    says: 'the unique index one_title on conversations',
  },
  'an index on something else': {
    sqlite: 'DROP INDEX messages_by_arrival; CREATE INDEX messages_by_arrival ON users (id)',
    says: 'the index messages_by_arrival',
  },
}

/** Objects that a host may have in the same database. */
const HOSTED: Record<Dialect, string> = {
  sqlite: `CREATE TABLE shop_orders (id INTEGER PRIMARY KEY, by TEXT REFERENCES users, total INTEGER);
    CREATE TABLE shop_log (what TEXT);
    CREATE UNIQUE INDEX shop_orders_by ON shop_orders (by);
    CREATE VIEW shop_people AS SELECT id, username FROM users;
    CREATE TRIGGER shop_note AFTER INSERT ON shop_orders BEGIN INSERT INTO shop_log VALUES ('new'); END;
    CREATE INDEX people_by_name ON users (display_name)`,
  postgresql: `CREATE TABLE shop_orders (id SERIAL PRIMARY KEY, by TEXT REFERENCES users, total INTEGER, UNIQUE (total));
    CREATE UNIQUE INDEX shop_orders_by ON shop_orders (by);
    CREATE VIEW shop_people AS SELECT id, username FROM users;
    CREATE FUNCTION shop_note() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
    CREATE TRIGGER shop_note AFTER INSERT ON shop_orders FOR EACH ROW EXECUTE FUNCTION shop_note();
    CREATE INDEX people_by_name ON users (display_name)`,
}

/** A service on a database, and the findings of `fsck` about its schema. */
async function open(url: string) {
  const chat = createChatService(parseConfig(), await openStorage({ database: url }))
  return {
    chat,
    start: () => chat.start({ background: false }),
    async checkSchema() {
      await chat.start({ background: false, changed: true })
      return (await chat.ops.fsck()).findings
    },
  }
}

describeOnEachEmptyDatabase('a modified database', (openUrl, dialect) => {
  async function run(url: string, sql: string): Promise<void> {
    if (dialect === 'sqlite') {
      const handle = await openHandle(fileOf(url))
      handle.exec(sql)
      return handle.close()
    }
    const client = new pg.Client(url)
    await client.connect()
    await client.query(sql)
    await client.end()
  }

  async function migrated(): Promise<string> {
    const url = await openUrl()
    const storage = await openStorage({ database: url })
    await storage.migrate()
    expect(await listChanges(storage.db)).toEqual([])
    await storage.close()
    return url
  }

  it.each(Object.entries(CHANGES))('is refused by the start, and reported by fsck: %s', async (_, change) => {
    const url = await migrated()
    await run(url, change[dialect] ?? change.sqlite)
    const { chat, start, checkSchema } = await open(url)
    onTestFinished(() => chat.close())
    await expect(start()).rejects.toThrow(change.says)
    expect(await checkSchema()).toContainEqual(
      expect.objectContaining({ name: 'schema', examples: expect.arrayContaining([change.says]) }),
    )
  })

  it("is accepted with tables, views and triggers of a host next to the service's", async () => {
    const url = await migrated()
    await run(url, HOSTED[dialect])
    const { chat, start, checkSchema } = await open(url)
    onTestFinished(() => chat.close())
    await start()
    expect(await checkSchema()).toEqual([])
  })

  it.each([
    ['a table', 'CREATE TABLE users (name TEXT)', 'the table users'],
    ['a table for steps', 'CREATE TABLE migrations (id INTEGER, batch INTEGER)', 'the table migrations'],
    ['a view', 'CREATE VIEW threads AS SELECT 1 AS one', 'the view threads'],
  ])('is left unchanged if a host has %s under a name of the service', async (_, sql, says) => {
    const url = await openUrl()
    await run(url, sql)
    const { chat, start } = await open(url)
    onTestFinished(() => chat.close())
    await expect(start()).rejects.toThrow(says)
  })
})

it('copies of a SQLite file with a trigger, or with tables of a host, are neither created nor restored', async () => {
  const { url, remove } = await createSqliteFile()
  onTestFinished(remove)
  const storage = await openStorage({ database: url })
  onTestFinished(() => storage.close())
  await storage.migrate()
  const copy = `${fileOf(url)}.copy`
  const restored = `${fileOf(url)}.restored`
  for (const [sql, says] of [
    [CHANGES['a trigger']!.sqlite, 'the trigger spy on messages'],
    ['CREATE TABLE shop_orders (id INTEGER PRIMARY KEY)', /shop_orders.*chat-server export/],
  ] as const) {
    await storage.backup(copy)
    const handle = await openHandle(copy)
    handle.exec(sql)
    handle.close()
    await expect(restoreStorage(`sqlite:${restored}`, copy)).rejects.toThrow(says)
    expect(existsSync(restored)).toBe(false)
    const changed = await openStorage({ database: `sqlite:${copy}` })
    await expect(changed.backup(`${copy}.copy`)).rejects.toThrow(says)
    expect(existsSync(`${copy}.copy`)).toBe(false)
    await changed.close()
    rmSync(copy)
  }
})
