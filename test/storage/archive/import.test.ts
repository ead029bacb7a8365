import { afterEach, describe, expect, inject, it } from 'vitest'
import { createChatService, openStorage, parseConfig, type Storage } from '../../../lib/index.ts'
import { TABLES } from '../../../lib/storage/archive/format.ts'
import { splitLines } from '../../../lib/storage/archive/lines.ts'
import { sql, statement } from '../../../lib/storage/sql.ts'
import {
  createPostgresDatabase,
  createSqliteFile,
  describeOnEachEmptyDatabase,
  type FreshDatabase,
} from '../../support/databases.ts'
import { innerState, startService, startThread } from '../../support/service.ts'

/** Tables that an archive leaves out, with the reason. */
const LEFT_OUT: Record<string, string> = {
  revocations: 'They concern the open streams of running processes.',
  migrations: 'the schema is made by the program that imports',
  meta: 'the name of a history, which is begun anew',
  webhook_deliveries: 'what was sent belongs to the original',
  notices: 'texts for one reader, which live for a day at most',
  invocations: 'calls of commands, which their programs answer within minutes',
  oauth_states: 'sign-ins that have begun begin again',
  oauth_assertions: 'what clients prove themselves with, for minutes',
  blob_sizes: 'sums of the sizes of blobs are made anew',
  limit_buckets: 'counts of the last moments',
  login_failures: 'counts of the last minutes',
  schedules: 'when this database was backed up',
  search_changes: 'the index of the search is filled after an import',
  usage_rounds: 'sums are made anew',
  usage_sums: 'sums are made anew',
  user_words: 'a start makes them of the names',
  tasks: 'a start makes those anew that are not done',
}

const hasPostgres = Boolean(inject('postgres_url'))
const created: FreshDatabase[] = []
const opened: Storage[] = []

afterEach(async () => {
  for (const storage of opened.splice(0)) await storage.close()
  for (const database of created.splice(0)) await database.remove()
})

async function create(make: () => Promise<FreshDatabase>): Promise<string> {
  const database = await make()
  created.push(database)
  return database.url
}

async function open(url: string): Promise<Storage> {
  const storage = await openStorage({ database: url })
  opened.push(storage)
  await storage.migrate()
  return storage
}

/** A database with rows in most tables. */
async function fill(url: string): Promise<void> {
  const service = await startService(url)
  const { ada, grace, conversation_id, root } = await startThread(service)
  const { message_id } = await ada.messages.reply(
    root.message_id,
    { content: 'Grüße, 你好 "quoted"\n' },
    { headers: { 'idempotency-key': 'once' } },
  )
  await ada.messages.edit(message_id, { content: 'edited' })
  await ada.reactions.add(root.message_id, '👍')
  await ada.messages.remove(message_id, { reason: 'off topic' })
  await grace.threads.markRead(root.root_id, {})
  await ada.invites.create(conversation_id, {})
  const quote = { quote_id: root.message_id }
  const ask = { content: 'Are you there?', role: 'assistant' as const, ...quote }
  const { message_id: variant_of } = await grace.messages.postRoot(conversation_id, ask)
  await grace.messages.postRoot(conversation_id, { ...ask, variant_of })
  await innerState(service).answers.idle()
  await service.close()
}

async function exportLines(storage: Storage): Promise<string[]> {
  let text = ''
  await storage.export((lines) => {
    text += lines
  })
  return text.trimEnd().split('\n')
}

async function* each(lines: string[]): AsyncGenerator<string> {
  yield* lines
}

/** The rows of an archive, without its own id. */
const dataOf = (lines: string[]) => lines.slice(1).sort()

async function findings(url: string) {
  const storage = await openStorage({ database: url })
  const chat = createChatService(parseConfig(), storage)
  await chat.start({ background: false })
  const checkup = await chat.ops.fsck()
  await chat.close()
  return checkup.findings
}

it('holds every table, or has the reason why not', async () => {
  const storage = await open(await create(createSqliteFile))
  const rows = await storage.db.all<{ name: string }>(
    sql`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`,
  )
  const held = [...TABLES.map(([name]) => name), ...Object.keys(LEFT_OUT)]
  expect(rows.map(({ name }) => name).sort()).toEqual(held.sort())
})

describe.skipIf(!hasPostgres)('an archive', () => {
  it('moves from SQLite to PostgreSQL and back without a loss', async () => {
    const urls = [await create(createSqliteFile), await create(createPostgresDatabase), await create(createSqliteFile)]
    await fill(urls[0]!)
    const [first, second, third] = [await open(urls[0]!), await open(urls[1]!), await open(urls[2]!)]
    const lines = await exportLines(first)
    const progress: string[] = []
    const counts = await second.import(each(lines), (table, rows) => progress.push(`${table} ${rows}`))
    expect(progress).toContain(`messages ${counts.messages}`)
    const there = await exportLines(second)
    expect(dataOf(there)).toEqual(dataOf(lines))
    await third.import(each(there))
    expect(dataOf(await exportLines(third))).toEqual(dataOf(lines))
    for (const storage of opened.splice(0)) await storage.close()
    for (const url of urls) expect(await findings(url)).toEqual([])

    // Numbers continue after the imported ones, and old event ids are invalid.
    const service = await startService(urls[1]!)
    const ada = await service.signIn('ada')
    const { conversations } = await ada.conversations.list()
    const posted = await ada.messages.postRoot(conversations[0]!.id, { content: 'on' })
    expect(posted.message.content).toBe('on')
    await service.close()
    expect(await findings(urls[1]!)).toEqual([])
  })
})

it.skipIf(!hasPostgres)('may be so large that the counts take longer than a statement may run', async () => {
  const source = await create(createSqliteFile)
  await fill(source)
  const target = await open(await create(createPostgresDatabase))
  const limited = `CREATE FUNCTION limited() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF current_setting('statement_timeout') <> '0' THEN RAISE 'limited'; END IF; RETURN NEW; END $$`
  await target.db.run(statement(limited))
  await target.db.run(sql`CREATE TRIGGER limited BEFORE UPDATE ON participants FOR EACH ROW EXECUTE FUNCTION limited()`)
  const lines = await exportLines(await open(source))
  await target.import(each(lines))
  expect(dataOf(await exportLines(target))).toEqual(dataOf(lines))
})

describeOnEachEmptyDatabase('an archive with a text that is too long', (openUrl) => {
  it('is refused with the line number, and nothing of it is imported', async () => {
    const url = await create(createSqliteFile)
    await fill(url)
    const lines = await exportLines(await open(url))
    const target = await open(await openUrl())
    for (const [table, column, longest] of [
      ['users', 'username', 3 * 64],
      ['users', 'email', 254],
      ['users', 'display_name', 200],
      ['users', 'avatar_url', 2048],
      ['users', 'password_hash', 256 * 1024],
      ['conversations', 'title', 200],
      ['messages', 'content', 256 * 1024],
      ['messages', 'delete_reason', 500],
      ['message_chunks', 'content', 16 * 1024 * 1024],
    ] as const) {
      const at = lines.findIndex((line) => line.startsWith(`{"table":"${table}"`))
      const line = JSON.parse(lines[at]!)
      const invalid = [...lines]
      invalid[at] = JSON.stringify({ ...line, row: { ...line.row, [column]: 'x'.repeat(longest + 1) } })
      await expect(target.import(each(invalid))).rejects.toThrow(
        `in line ${at + 1} of the archive, ${table}.${column} has ${longest + 1} characters; at most ${longest}`,
      )
      for (const [name] of TABLES) expect(await target.db.all(statement(`SELECT * FROM ${name}`)), name).toEqual([])
    }
    // The database then accepts another archive, also one with texts of the maximum length.
    const [at, line] = [...lines.entries()].find(([, each]) => each.startsWith('{"table":"messages"'))!
    const { table, row } = JSON.parse(line)
    lines[at] = JSON.stringify({ table, row: { ...row, content: 'x'.repeat(256 * 1024) } })
    await target.import(each(lines))
    expect(dataOf(await exportLines(target))).toEqual(dataOf(lines))
  })
})

describeOnEachEmptyDatabase('an import', (openUrl) => {
  it.each([
    ['an archive without their numbers', ''],
    ['an archive with wrong numbers', ',"participant_count":7'],
  ])('counts the participants of %s', async (_, written) => {
    const url = await create(createSqliteFile)
    await fill(url)
    const isOfConversation = (line: string) => line.startsWith('{"table":"conversations"')
    const lines = (await exportLines(await open(url))).map((line) =>
      isOfConversation(line) ? line.replace(',"participant_count":2', written) : line,
    )
    expect(lines.filter(isOfConversation).join()).not.toContain('"participant_count":2')
    const target = await open(await openUrl())
    await target.import(each(lines))
    expect(await target.db.all(sql`SELECT title, participant_count FROM conversations`)).toEqual([
      { title: 'Engines', participant_count: 2 },
    ])
  })
})

describe.skipIf(!hasPostgres)('an import into PostgreSQL', () => {
  const rowsOf = async ({ db }: Storage) => {
    let rows = 0
    for (const [table] of TABLES) rows += (await db.all(statement(`SELECT 1 AS one FROM ${table}`))).length
    return rows + (await db.all(sql`SELECT 1 AS one FROM meta WHERE name = 'import'`)).length
  }

  async function archive(): Promise<string[]> {
    const url = await create(createSqliteFile)
    await fill(url)
    return exportLines(await open(url))
  }

  it.each<[string, (lines: string[]) => string[], string]>([
    ['its end is missing', (lines) => lines.slice(0, -1), 'not whole'],
    [
      'a row is there twice',
      (lines) => lines.flatMap((line) => (line.includes('"table":"users"') ? [line, line] : [line])),
      'duplicate key',
    ],
    [
      'a row refers to a missing one',
      (lines) => lines.filter((line) => !line.includes('"table":"threads"')),
      'foreign key',
    ],
    [
      'a value is no text or number',
      (lines) => lines.map((line) => line.replace(/"username":"\w+"/, '"username":["x"]')),
      'damaged',
    ],
    [
      'its end counts more rows',
      (lines) => lines.map((line) => line.replace('"messages":', '"messages":1')),
      'should be',
    ],
    [
      'a column is unknown',
      (lines) => lines.map((line) => line.replace('"username":', '"nickname":')),
      'unknown users',
    ],
  ])('leaves nothing when %s', async (_, spoil, message) => {
    const lines = await archive()
    const target = await open(await create(createPostgresDatabase))
    await expect(target.import(each(spoil(lines)))).rejects.toThrow(message)
    expect(await rowsOf(target)).toBe(0)
    await target.import(each(lines))
    expect(dataOf(await exportLines(target))).toEqual(dataOf(lines))
    await expect(target.import(each(lines))).rejects.toThrow('not empty')
  })

  it('replaces what an interrupted import has left', async () => {
    const lines = await archive()
    const { id } = JSON.parse(lines[0]!)
    const target = await open(await create(createPostgresDatabase))
    await target.db.run(sql`INSERT INTO meta (name, value) VALUES ('import', ${id})`)
    await target.import(each(lines))
    expect(dataOf(await exportLines(target))).toEqual(dataOf(lines))
  })

  it('stores every character of a text', async () => {
    const lines = await archive()
    const texts = ['\\N', '\\.', 'a\tb\nc\rd\\e', '\u2028\u{1f600}', '']
    const target = await open(await create(createPostgresDatabase))
    const titled = lines.map((line) => {
      const { table, row } = JSON.parse(line)
      return table === 'messages' ? JSON.stringify({ table, row: { ...row, content: texts.join('|') } }) : line
    })
    await target.import(each(titled))
    expect(dataOf(await exportLines(target))).toEqual(dataOf(titled))
  })
})

it('an export waits for a slow reader', async () => {
  const url = await create(createSqliteFile)
  await fill(url)
  const storage = await open(url)
  let busy = false
  await storage.export(async () => {
    expect(busy).toBe(false)
    busy = true
    await new Promise(setImmediate)
    busy = false
  })
})

it.each([
  [
    ['a\nb', '\nc'],
    ['a', 'b', 'c'],
  ],
  [
    ['a', 'b\n', 'c'],
    ['ab', 'c'],
  ],
  [['\n'], ['']],
  [[], []],
])('the chunks %j have the lines %j', async (chunks, lines) => {
  async function* bytes() {
    for (const chunk of chunks) yield new TextEncoder().encode(chunk)
  }
  const found: string[] = []
  for await (const line of splitLines(bytes())) found.push(line)
  expect(found).toEqual(lines)
})

describe('an import', () => {
  async function archive(): Promise<string[]> {
    const url = await create(createSqliteFile)
    await fill(url)
    return exportLines(await open(url))
  }

  it('continues where it was interrupted', async () => {
    const lines = await archive()
    const target = await open(await create(createSqliteFile))
    await expect(target.import(each(lines.slice(0, -5)))).rejects.toThrow('not whole')
    await target.import(each(lines))
    expect(dataOf(await exportLines(target))).toEqual(dataOf(lines))
    await expect(target.import(each(lines))).rejects.toThrow('not empty')
  })

  it('treats accounts of an older archive as verified', async () => {
    const lines = (await archive()).filter((line) => !line.startsWith('{"table":"email_verifications"'))
    const older = lines.map((line) =>
      line.replace(/,"email_verified_at":\d+/, '').replace('"email_verifications":0,', ''),
    )
    expect(older.some((line) => line.includes('email_verif'))).toBe(false)
    const target = await open(await create(createSqliteFile))
    await target.import(each(older))
    const [first] = await target.db.all<{ proven: number }>(
      sql`SELECT count(*) AS proven FROM users WHERE email_verified_at = created_at`,
    )
    expect(first!.proven).toBe(3)
  })

  it.each<[string, (lines: string[]) => string[], string]>([
    ['nothing', () => [], 'not whole'],
    ['something else', () => ['{"hello":1}'], 'not an archive'],
    ['nothing but null', () => ['null'], 'not an archive'],
    ['a header without its steps', () => ['{"chat_server_archive":1}'], 'not an archive'],
    ['another form', () => ['{"chat_server_archive":2}'], 'can read'],
    ['a line that is no row', (lines) => [lines[0]!, 'null'], 'damaged'],
    ['a table without a row', (lines) => [lines[0]!, '{"table":"users"}'], 'damaged'],
    ['an end without counts', (lines) => [lines[0]!, '{"end":true}'], 'damaged'],
    ['no JSON', () => ['PK\u0003\u0004'], 'not an archive'],
    [
      'one of a newer program',
      (lines) => [lines[0]!.replace('0001-foundation', '9999-future'), ...lines.slice(1)],
      'newer',
    ],
    [
      'a table there is not',
      (lines) => [lines[0]!, '{"table":"migrations","row":{"id":1}}', '{"end":true,"counts":{}}'],
      'unknown migrations',
    ],
    [
      'a column there is not',
      (lines) => [lines[0]!, '{"table":"users","row":{"id) SELECT 1 --":"x"}}', '{"end":true,"counts":{}}'],
      'unknown users',
    ],
    [
      'fewer rows than it says',
      (lines) => lines.filter((line) => !line.includes('"table":"participants"')),
      'should be',
    ],
  ])('refuses %s', async (_, spoil, message) => {
    const lines = spoil(await archive())
    const target = await open(await create(createSqliteFile))
    await expect(target.import(each(lines))).rejects.toThrow(message)
  })
})
