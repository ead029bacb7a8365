import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createChatApp } from '../../lib/http/index.ts'
import {
  type Chat,
  createChatService,
  OPERATOR,
  openStorage,
  parseConfig,
  restoreStorage,
  type StorageOptions,
} from '../../lib/index.ts'
import { MIGRATIONS } from '../../lib/storage/schema/migrations.ts'
import { sql } from '../../lib/storage/sql.ts'
import { createSqliteFile, type Dialect, describeOnEachEmptyDatabase } from '../support/databases.ts'
import { fileOf, openHandle } from './handles.ts'

/** What a host has in its database: tables with names of the service, and a trigger. */
const HOST: Record<Dialect, string> = {
  sqlite: `CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE sessions (sid TEXT, body TEXT);
    CREATE TABLE migrations (id INTEGER, batch INTEGER);
    CREATE TABLE log (what TEXT, user_id INTEGER REFERENCES users);
    CREATE INDEX sessions_of_user ON sessions (sid);
    CREATE TRIGGER note AFTER INSERT ON users BEGIN INSERT INTO log (what) VALUES (new.name); END;
    INSERT INTO users VALUES (1, 'first')`,
  postgresql: `CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE sessions (sid TEXT, body TEXT);
    CREATE TABLE migrations (id INTEGER, batch INTEGER);
    CREATE TABLE log (what TEXT);
    CREATE INDEX sessions_of_user ON sessions (sid);
    CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN INSERT INTO log VALUES (new.name); RETURN NULL; END';
    CREATE TRIGGER note AFTER INSERT ON users FOR EACH ROW EXECUTE FUNCTION note();
    INSERT INTO users VALUES (1, 'first')`,
}

const QUICK = { security: { password: { bcrypt_cost: 4 } } }

/** A started service, and a conversation with a thread in it. */
async function open(options: StorageOptions): Promise<Chat> {
  const chat = createChatService(parseConfig(QUICK), await openStorage(options))
  onTestFinished(() => chat.close())
  await chat.start({ background: false })
  return chat
}

async function talk(chat: Chat, content: string) {
  const { user } = await chat.setup.run({ email: 'ada@example.org', password: 'correct horse battery' })
  const ada = await chat.users.actor(user.id)
  const { conversation_id } = await chat.conversations.create(ada, { title: content })
  await chat.messages.postRoot(ada, conversation_id, { content })
  return { ada, conversation_id }
}

async function archiveOf(options: StorageOptions): Promise<string> {
  const storage = await openStorage(options)
  const pieces: string[] = []
  await storage.export((lines) => void pieces.push(lines))
  await storage.close()
  return pieces.join('')
}

async function* linesOf(archive: string) {
  yield* archive.trimEnd().split('\n')
}

describeOnEachEmptyDatabase('a database with tables of a host', (openUrl, dialect) => {
  async function run(url: string, sql: string): Promise<{ n: number }[]> {
    if (dialect === 'sqlite') {
      const handle = await openHandle(fileOf(url))
      try {
        if (sql.startsWith('SELECT')) return handle.prepare(sql).all() as { n: number }[]
        handle.exec(sql)
        return []
      } finally {
        handle.close()
      }
    }
    const client = new pg.Client(url)
    await client.connect()
    const { rows } = await client.query(sql)
    await client.end()
    return rows?.map(({ n }) => ({ n: Number(n) })) ?? []
  }

  const placements: StorageOptions[] =
    dialect === 'sqlite'
      ? [{ prefix: 'chat_' }]
      : [{ prefix: 'chat_' }, { schema: 'chat' }, { schema: 'chat', prefix: 'a_' }]

  it('is refused before anything is written, with the names and the remedies', async () => {
    const url = await openUrl()
    await run(url, HOST[dialect])
    const storage = await openStorage({ database: url })
    onTestFinished(() => storage.close())
    const says =
      dialect === 'sqlite'
        ? /the table migrations, the table sessions, the index sessions_of_user, the table users in .*database\.prefix/
        : /the table migrations, the table sessions, the index sessions_of_user, the table users in .*database\.schema.* or database\.prefix/
    await expect(storage.migrate()).rejects.toThrow(says)
    const chat = createChatService(parseConfig(), storage)
    await expect(chat.start({ background: false })).rejects.toThrow(says)
    expect(await run(url, 'SELECT count(*) AS n FROM migrations')).toEqual([{ n: 0 }])
  })

  it.each(placements)('is shared with a service at %j, whose work leaves them as they are', async (placement) => {
    const url = await openUrl()
    await run(url, HOST[dialect])
    const options = { database: url, ...placement }
    const chat = await open(options)
    const { ada, conversation_id } = await talk(chat, 'one')
    const { user } = await chat.users.create(OPERATOR, { username: 'grace', email: 'grace@example.org' })
    await chat.participants.add(ada, conversation_id, { user_id: user.id })
    await chat.users.erase(OPERATOR, user.id, {})
    expect((await chat.ops.fsck()).findings).toEqual([])
    await run(url, "INSERT INTO users VALUES (2, 'second')")
    expect(await run(url, 'SELECT count(*) AS n FROM users')).toEqual([{ n: 2 }])
    expect(await run(url, 'SELECT count(*) AS n FROM log')).toEqual([{ n: 2 }])

    const again = await open(options)
    expect((await again.conversations.list(ada, {})).conversations).toHaveLength(1)
  })

  it.each(placements)('has an archive and checksums without the names of %j', async (placement) => {
    const [from, to] = [await openUrl(), await openUrl()]
    const options = { database: from, ...placement }
    const chat = await open(options)
    await talk(chat, 'one')
    const archive = await archiveOf(options)
    expect(archive).toContain('"table":"users"')
    const plain = await openStorage({ database: to })
    onTestFinished(() => plain.close())
    await plain.migrate()
    await plain.import(linesOf(archive))
    expect(await plain.migrations()).toEqual(MIGRATIONS.map(({ name }) => ({ name, applied_at: expect.any(String) })))
    const storage = await openStorage(options)
    onTestFinished(() => storage.close())
    const checksums = (all: Awaited<ReturnType<typeof openStorage>>) =>
      all.db.all(sql`SELECT id, name, checksum FROM migrations ORDER BY id`)
    expect(await checksums(storage)).toEqual(await checksums(plain))
  })

  it('is shared by two services with other prefixes, which do not see each other', async () => {
    const url = await openUrl()
    const [one, two] = [await open({ database: url, prefix: 'one_' }), await open({ database: url, prefix: 'two_' })]
    const [first, second] = await Promise.all([talk(one, 'first'), talk(two, 'second')])
    expect((await one.conversations.list(first.ada, {})).conversations.map(({ title }) => title)).toEqual(['first'])
    expect((await two.conversations.list(second.ada, {})).conversations.map(({ title }) => title)).toEqual(['second'])
    await expect(one.conversations.get(first.ada, second.conversation_id)).rejects.toThrow()
    for (const chat of [one, two]) expect((await chat.ops.fsck()).findings).toEqual([])
  })

  it('refuses a trigger and another column on the tables of the service', async () => {
    const url = await openUrl()
    const storage = await openStorage({ database: url, prefix: 'chat_' })
    await storage.migrate()
    await storage.close()
    await run(url, 'ALTER TABLE chat_users ADD COLUMN shoe_size INTEGER')
    await expect(open({ database: url, prefix: 'chat_' })).rejects.toThrow('the column shoe_size of chat_users')
  })
})

describeOnEachEmptyDatabase('two services of a process on one database', (openUrl) => {
  async function start(database: string, prefix: string, config: object = {}) {
    const chat = createChatService(parseConfig({ ...QUICK, ...config }), await openStorage({ database, prefix }))
    onTestFinished(() => chat.close())
    await chat.start()
    return chat
  }
  const named = (prefix: string) => ({ security: { ...QUICK.security, cookie: { prefix } } })

  it('are refused with the same cookies, unless they are nodes of one service', async () => {
    const url = await openUrl()
    await start(url, 'one_')
    await start(url, 'one_')
    await expect(start(url, 'two_')).rejects.toThrow(/the cookie SESSION_ID.*security\.cookie\.prefix/)
    await start(url, 'two_', named('two_'))
    await start(await openUrl(), 'two_')
  })

  it('keep their sessions apart in one browser', async () => {
    const url = await openUrl()
    const email = 'ada@example.org'
    const password = 'correct horse battery'
    const jar = new Map<string, string>()
    const apps = await Promise.all(
      ['one_', 'two_'].map(async (prefix) => createChatApp(await start(url, prefix, named(prefix)))),
    )
    const call = async (app: (typeof apps)[number], path: string, body?: object) => {
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
      const response = await app.fetch(
        new Request(`http://localhost${path}`, {
          headers: { cookie, 'content-type': 'application/json' },
          ...(body && { method: 'POST', body: JSON.stringify(body) }),
        }),
      )
      for (const line of response.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!
        jar.set(name!, value!)
      }
      return response.status
    }
    for (const app of apps) {
      await call(app, '/api/setup', { email, password })
      expect(await call(app, '/api/auth/login', { email, password })).toBe(200)
    }
    for (const app of apps) expect(await call(app, '/api/auth/me')).toBe(200)
    expect([...jar.keys()].filter((name) => !/^(one|two)_/.test(name))).toEqual([])
  })
})

describe('SQLite', () => {
  it('has no schemas', async () => {
    await expect(openStorage({ database: 'sqlite::memory:', schema: 'chat' })).rejects.toThrow('give a prefix')
    expect(() => parseConfig({ database: { schema: 'chat' } })).toThrow('database.prefix')
  })

  it('is backed up and restored with a prefix, unless the file holds tables of a host', async () => {
    const { url, remove } = await createSqliteFile()
    onTestFinished(remove)
    const storage = await openStorage({ database: url, prefix: 'chat_' })
    onTestFinished(() => storage.close())
    await storage.migrate()
    const copy = `${fileOf(url)}.copy`
    await storage.backup(copy)
    await restoreStorage(`${url}.restored`, copy, { prefix: 'chat_' })
    await expect(restoreStorage(`${url}.other`, copy)).rejects.toThrow('not a database of chat-server')
    await storage.db.run(sql`CREATE TABLE invoices (id INTEGER)`)
    await expect(storage.backup(`${copy}.more`)).rejects.toThrow(/the table invoices.*chat-server export/)
  })
})
