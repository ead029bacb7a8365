import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { loadConfig } from '../../../cli/config/load.ts'
import { checkAddresses } from '../../../cli/doctor/addresses.ts'
import { checkStorage, judgeGone, judgeSize, judgeSpace } from '../../../cli/doctor/attachments.ts'
import { checkConfiguration } from '../../../cli/doctor/configuration.ts'
import { judgeDatabase } from '../../../cli/doctor/database.ts'
import { checkFile, judgeFileSystem } from '../../../cli/doctor/files.ts'
import { checkPasswords } from '../../../cli/doctor/passwords.ts'
import { judgeSearch } from '../../../cli/doctor/search.ts'
import { openStorage, parseConfig } from '../../../lib/index.ts'
import { distributedOf } from '../../../lib/storage/inspect.ts'
import { startOpenId } from '../../accounts/oauth/openid.ts'
import { openHandle } from '../../storage/handles.ts'
import { createPostgresDatabase } from '../../support/databases.ts'
import { filesInFolder } from '../../support/files-folder.ts'
import { startCluster } from '../../support/postgres.ts'
import { answersModels } from '../models.ts'
import { folder, run } from '../process.ts'
import { runDoctor, wrong } from '../run-checks.ts'

const LONG = { timeout: 120_000 }

it.each<[string[], Parameters<typeof judgeSearch>[0]]>([
  [['search.index'], { waiting: 9_999, refused: 0, filling: false }],
  [['search.filling'], { waiting: 900_000, refused: 0, filling: true }],
  [['search.behind'], { waiting: 10_000, refused: 0, filling: false }],
  [['search.refused'], { waiting: 10_000, refused: 2, filling: false }],
  [['search.refused', 'search.behind'], { waiting: 10_002, refused: 2, filling: false }],
])('finds %j about the search index', (codes, state) => {
  expect(judgeSearch(state).map(({ code }) => code)).toEqual(codes)
})

describe('the files of messages', () => {
  it.each([
    ['attachments.size', 10, 0],
    ['attachments.size', 89, 100],
    ['attachments.nearly_full', 90, 100],
    ['attachments.full', 100, 100],
  ])('have the finding %s with %i bytes of %i', (code, bytes, most) => {
    expect(judgeSize(bytes, most).code).toBe(code)
  })

  it('are refused when the rest of the disk is kept from them', () => {
    expect(judgeSpace({ free: 100 }, 100)).toEqual([])
    expect(judgeSpace({ free: 99 }, 100)).toMatchObject([{ code: 'attachments.no_space', severity: 'warning' }])
  })

  it('are counted if they are gone', () => {
    expect(judgeGone(0)).toEqual([])
    expect(judgeGone(2)).toMatchObject([{ code: 'attachments.gone', severity: 'note' }])
  })

  it('can be stored, or the reason is found; nothing stays', async () => {
    const { storage } = await filesInFolder()
    const path = storage.slice('fs:'.length)
    expect(await checkStorage(storage, false)).toMatchObject({ code: 'attachments.storage', severity: 'ok' })
    expect(readdirSync(path)).toEqual([])
    expect(await checkStorage(storage, true)).toMatchObject({ severity: 'skipped' })
    // It is left to the service, which may be another user.
    expect(await checkStorage(`${storage}/files`, false)).toMatchObject({ code: 'attachments.no_folder' })
    expect(readdirSync(path)).toEqual([])
    writeFileSync(join(path, 'file'), '')
    const found = await checkStorage(`${storage}/file`, false)
    expect(found).toMatchObject({ code: 'attachments.not_writable', message: expect.stringContaining('ENOTDIR') })
    expect(await checkStorage('s3://', false)).toMatchObject({ code: 'attachments.not_writable' })
  })

  it('are looked at only where there are files', async () => {
    const url = `sqlite:${join(folder(), 'chat.db')}`
    const storage = await openStorage({ database: url })
    await storage.migrate()
    await storage.close()
    const codes = async (attachments: object) =>
      [...(await runDoctor({ server: { port: 9 }, database: { url }, attachments })).keys()].filter((code) =>
        code.startsWith('attachments'),
      )
    expect(await codes({})).toEqual([])
    expect(await codes({ enabled: true })).toEqual(['attachments.size', 'attachments.no_folder'])
  })
})

describe('the URLs of a configuration', () => {
  const public_url = 'https://chat.example.org'
  const server = { public_url, trusted_proxies: ['127.0.0.1'] }
  const secure = { secure: true }
  const github = { client_id: 'id', client_secret: 'secret' }
  it.each<[string, object, string[]]>([
    ['nothing set', {}, []],
    ['behind a proxy', { server, security: { cookie: secure } }, []],
    ['no proxy is trusted', { server: { public_url }, security: { cookie: secure } }, ['trusted_proxies.missing']],
    ['no address for others', { server: { host: '0.0.0.0' } }, ['public_url.missing']],
    [
      'secure cookies over http',
      { server: { public_url: 'http://chat.example.org' }, security: { cookie: secure } },
      ['cookie.secure_over_http'],
    ],
    ['the domain above', { server, security: { cookie: { ...secure, domain: '.example.org' } } }, []],
    ['another domain', { server, security: { cookie: { ...secure, domain: 'ample.org' } } }, ['cookie.other_domain']],
    [
      'a page of the same site and one of another',
      {
        server: { ...server, cors: { allowed_origins: ['https://app.example.org', 'https://example.net'] } },
        security: { cookie: secure },
      },
      ['cors.other_site'],
    ],
    [
      'a page of another site that gets cookies',
      {
        server: { ...server, cors: { allowed_origins: ['https://example.net'] } },
        security: { cookie: { ...secure, same_site: 'none' } },
      },
      [],
    ],
    ['a provider', { server, security: { cookie: secure }, oauth: { github } }, []],
    [
      'a provider that sends people elsewhere',
      {
        server,
        security: { cookie: secure },
        oauth: { github: { ...github, redirect_uri: 'http://localhost:8080/api/oauth/github/callback' } },
      },
      ['oauth.other_redirect'],
    ],
    [
      'a provider and strict cookies',
      { server, security: { cookie: { ...secure, same_site: 'strict' } }, oauth: { github } },
      ['cookie.strict_with_providers'],
    ],
  ])('%s', (_, config, codes) => {
    const findings = checkAddresses(parseConfig(config))
    expect(wrong(findings)).toEqual(codes)
    for (const each of findings) if (each.severity !== 'ok') expect(each.remedy?.length).toBeGreaterThan(10)
  })
})

describe('the configuration', () => {
  it('gets warnings, each with a remedy', () => {
    const file = join(folder({ 'a.toml': '[server]\nhost = "0.0.0.0"\n[security.csrf]\nenabled = false\n' }), 'a.toml')
    chmodSync(file, 0o644)
    const findings = checkConfiguration(loadConfig({ config: file }, { CHAT_PORT: '1' }))
    expect(wrong(findings)).toEqual(['configuration.unknown_variable', 'cookie.not_secure', 'csrf.disabled'])
    const os = checkConfiguration(loadConfig({}, { CHAT_STORAGE__DURABILITY: 'os' }))
    expect(os.at(-1)).toMatchObject({ severity: 'note', code: 'storage.not_synced' })
  })

  it.each([
    ['[metrics]\ntoken = "hunter2"', 0o640, ['configuration.file_readable']],
    ['[database]\nurl = "postgres://chat:hunter2@db/chat"', 0o604, ['configuration.file_readable']],
    ['[database]\nurl = "postgres://chat@db/chat"', 0o644, []],
    ['[metrics]\ntoken = "hunter2"', 0o600, []],
    ['[server]\nport = 1', 0o644, []],
  ])('keeps its secrets: %j with mode %o', (text, mode, codes) => {
    const file = join(folder({ 'a.toml': text }), 'a.toml')
    chmodSync(file, mode)
    const findings = checkConfiguration(loadConfig({ config: file }, {}))
    expect(wrong(findings)).toEqual(codes)
    expect(JSON.stringify(findings)).not.toContain('hunter2')
  })
})

describe('a SQLite file', () => {
  async function database() {
    const cwd = folder()
    chmodSync(cwd, 0o700)
    const path = join(cwd, 'chat.db')
    const storage = await openStorage({ database: `sqlite:${path}` })
    await storage.migrate()
    await storage.close()
    return { cwd, path, config: { server: { port: 9 }, database: { url: `sqlite:${path}` } } }
  }

  it('that is intact is reported as such, and nothing is written', LONG, async () => {
    const { config } = await database()
    const findings = await runDoctor(config)
    expect(wrong(findings.values())).toEqual([])
    expect([...findings.keys()]).toEqual(
      expect.arrayContaining(['database.permissions', 'disk.space', 'database.durable', 'database.schema']),
    )
    expect((await runDoctor({ ...config, database: { url: 'sqlite::memory:' } })).has('database.in_memory')).toBe(true)
  })

  it('is missing, or is not a database', LONG, async () => {
    const { cwd, path, config } = await database()
    expect(wrong(checkFile(join(cwd, 'no.db')))).toEqual(['database.missing'])
    expect(wrong(checkFile(cwd))).toEqual(['database.no_file'])
    writeFileSync(path, 'x'.repeat(8192))
    const damaged = await runDoctor(config)
    expect(wrong(damaged.values())).toEqual(['database.unusable'])
    expect(damaged.get('stream')?.severity).toBe('skipped')
    truncateSync(path)
    expect(wrong((await runDoctor(config)).values())).toEqual(['database.empty'])
  })

  it('that others may read, or replace', async () => {
    const { cwd, path } = await database()
    chmodSync(path, 0o640)
    chmodSync(cwd, 0o777)
    expect(wrong(checkFile(path))).toEqual(['database.file_readable', 'database.folder_writable'])
  })

  it.skipIf(process.getuid?.() !== 0)('that belongs to another user (root)', LONG, async () => {
    const { cwd, path, config } = await database()
    const asNobody = async () => {
      process.seteuid!(65534)
      return runDoctor(config).finally(() => process.seteuid!(0))
    }
    const shut = await asNobody()
    expect(wrong(shut.values())).toEqual(['database.unusable'])
    expect(shut.get('database.unusable')?.remedy).toBe('Run this command as the user of the service.')
    chmodSync(cwd, 0o755)
    expect(wrong((await asNobody()).values())).toEqual(['database.other_owner', 'database.unusable'])
    expect(wrong(checkFile(path))).toEqual([])
  })

  it('with an unfinished import', LONG, async () => {
    const { path, config } = await database()
    const db = await openHandle(path)
    db.prepare("INSERT INTO meta (name, value) VALUES ('import', 'x')").run()
    db.close()
    const found = await runDoctor(config)
    expect(found.get('database.unusable')?.message).toContain('run "chat-server import" again')
    expect(found.get('database.unusable')?.remedy).toBe('Run the import again with the same archive: it continues.')
  })

  it('with an older or a newer schema', LONG, async () => {
    const { path, config } = await database()
    const db = await openHandle(path)
    db.prepare("UPDATE migrations SET id = 999, name = '0999-later' WHERE id = (SELECT max(id) FROM migrations)").run()
    expect(wrong((await runDoctor(config)).values())).toEqual(['database.unusable'])
    db.prepare('DELETE FROM migrations WHERE id = 999').run()
    expect(wrong((await runDoctor(config)).values())).toEqual(['database.schema_old'])
    db.close()
  })

  it('on which the service does not start, as its tables were changed', LONG, async () => {
    const { path, config } = await database()
    const db = await openHandle(path)
    db.exec('CREATE TRIGGER t AFTER INSERT ON users BEGIN SELECT 1; END')
    db.close()
    const found = await runDoctor(config)
    expect(found.get('database.unusable')?.message).toContain('the trigger t on users')
    expect(found.get('database.unusable')?.remedy).not.toContain('restore')
  })

  it('of a newer program, without a remedy that would lose what it wrote', LONG, async () => {
    const { path, config } = await database()
    const db = await openHandle(path)
    const id = (db.prepare('SELECT max(id) AS id FROM migrations').get() as { id: number }).id + 1
    db.prepare("INSERT INTO migrations (id, name, checksum, applied_at) VALUES (?, '0999-later', 'x', 0)").run(id)
    expect((await runDoctor(config)).get('database.schema_newer')?.severity).toBe('note')
    db.exec("INSERT INTO meta (name, value) VALUES ('schema_major', '2')")
    const found = await runDoctor(config)
    expect(found.get('database.unusable')?.remedy).toContain('Install the version')
    expect(found.has('database.schema')).toBe(false)
    db.close()
  })

  it('whose WAL is not checkpointed, and one without a WAL', LONG, async () => {
    const { path } = await database()
    const [writer, reader] = [await openHandle(path), await openHandle(path)]
    writer.exec('PRAGMA synchronous = OFF; CREATE TABLE junk (bytes BLOB)')
    reader.exec('BEGIN')
    reader.prepare('SELECT count(*) FROM junk').get()
    const insert = writer.prepare('INSERT INTO junk VALUES (zeroblob(8388608))')
    for (let count = 0; count < 9; count++) insert.run()
    expect(wrong(checkFile(path))).toEqual(['database.large_wal'])
    reader.exec('ROLLBACK')
    reader.close()
    writer.exec('PRAGMA journal_mode = DELETE')
    writer.close()
    expect(checkFile(path)).toContainEqual(expect.objectContaining({ severity: 'note', code: 'database.not_wal' }))
  })

  it.each([
    [0xef53, 10_000, 1, 'disk.space'],
    [0xef53, 300, 1, 'disk.nearly_full'],
    [0xef53, 10, 1, 'disk.full'],
    [0xef53, 1000, 2000, 'disk.no_room_for_backup'],
    [0x6969, 10_000, 1, 'database.network_file_system'],
  ])('on a file system of type %i with %i MiB free, for %i MiB: %s', (type, free, size, code) => {
    expect(judgeFileSystem('chat.db', { type, free: free * 1024 * 1024 }, size * 1024 * 1024)[0]!.code).toBe(code)
  })

  it('on a full disk that is one (tmpfs)', LONG, async () => {
    const mount = folder()
    const sh = promisify(execFile)
    const mounted = await sh('mount', ['-t', 'tmpfs', '-o', 'size=4m,mode=700', 'tmpfs', mount]).catch(() => undefined)
    if (!mounted) return console.log('A full disk was not tried: this user may mount none')
    onTestFinished(() => sh('umount', ['-l', mount]).then(() => {}))
    const url = `sqlite:${join(mount, 'chat.db')}`
    const storage = await openStorage({ database: url })
    await storage.migrate()
    await storage.close()
    expect(wrong((await runDoctor({ server: { port: 9 }, database: { url } })).values())).toEqual(['disk.full'])
  })
})

describe('a PostgreSQL server', () => {
  it('that may lose or damage data is detected, although the service would not start on it', LONG, async () => {
    const cluster = await startCluster()
    if (!cluster) return console.log('PostgreSQL tests skipped: initdb not found')
    onTestFinished(() => cluster.stop())
    const sql = async (url: string, ...statements: string[]) => {
      const client = new Client({ connectionString: url })
      await client.connect()
      for (const statement of statements) await client.query(statement)
      await client.end()
    }
    const url = cluster.url
    const storage = await openStorage({ database: url })
    await storage.migrate()
    await storage.close()
    const config = { server: { port: 9 }, database: { url } }
    expect(wrong((await runDoctor(config)).values())).toEqual([])

    const off = ['fsync', 'full_page_writes', 'synchronous_commit'].map((name) => `ALTER SYSTEM SET ${name} = off`)
    await sql(url, ...off)
    await cluster.restart()
    const findings = await runDoctor(config)
    const [fsync, commit] = ['database.fsync_off', 'database.synchronous_commit_off']
    expect(wrong(findings.values())).toEqual([fsync, commit, 'database.full_page_writes_off'])
    const chosen = await runDoctor({ ...config, storage: { durability: 'os' } })
    expect([chosen.get(fsync!)?.severity, chosen.get(commit!)?.severity]).toEqual(['note', 'note'])

    const name = new URL(url).pathname.slice(1)
    await sql(url, `ALTER DATABASE "${name}" SET default_transaction_isolation = 'serializable'`)
    const isolated = (await runDoctor(config)).get('database.isolation')
    expect(isolated).toMatchObject({ severity: 'note', message: expect.stringContaining('serializable') })

    await sql(url, "CREATE DATABASE ascii ENCODING 'SQL_ASCII' LOCALE 'C' LOCALE_PROVIDER libc TEMPLATE template0")
    const ascii = await runDoctor({ ...config, database: { url: cluster.databaseUrl('ascii') } })
    expect(wrong(ascii.values())).toEqual(expect.arrayContaining(['database.not_utf8', 'database.empty']))
    await cluster.stop()
    const gone = (await runDoctor(config)).get('database.unusable')
    expect(gone).toMatchObject({ severity: 'error', message: expect.stringContaining('ENOENT') })
  })

  it.skipIf(!inject('postgres_url'))('whose clock differs, and one that is read-only', LONG, async () => {
    const { url, remove } = await createPostgresDatabase()
    onTestFinished(remove)
    const storage = await openStorage({ database: url })
    await storage.migrate()
    const config = { server: { port: 9 }, database: { url } }
    await storage.db.run(`CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql
      AS $$ SELECT pg_catalog.clock_timestamp() + interval '1 hour' $$`)
    const name = new URL(url).pathname.slice(1)
    await storage.db.run(`ALTER DATABASE ${name} SET search_path = public, pg_catalog`)
    await storage.db.run(`ALTER DATABASE ${name} SET default_transaction_read_only = on`)
    await storage.close()
    const findings = await runDoctor(config)
    expect(wrong(findings.values())).toEqual(['database.read_only', 'database.clock'])
    expect(findings.get('database.clock')?.message).toMatch(/^Its clock is (1 hour|60 minutes) ahead of/)
  })

  it('that is too old', () => {
    const facts = { version: '12.1', version_number: 120_001, settings: {}, read_only: false }
    expect(wrong(judgeDatabase(facts, parseConfig({})))).toEqual(['database.old_version'])
  })

  it.each([
    ['CockroachDB', 'CockroachDB CCL v24.1.0 (x86_64-pc-linux-gnu, built 2024/05/15 21:28:29, go1.22.2)', false],
    ['YugabyteDB', 'PostgreSQL 15.2-YB-2.25.0.0-b0 on x86_64-pc-linux-gnu, compiled by clang version 17.0.6', false],
    ['Citus', 'PostgreSQL 16.4 on x86_64-pc-linux-gnu, compiled by gcc', true],
  ] as const)('that is %s is refused', (name, version, hasCitus) => {
    expect(distributedOf(version, hasCitus)).toBe(name)
    const facts = { version, distributed: name, settings: {}, read_only: false }
    expect(judgeDatabase(facts, parseConfig({}))).toMatchObject([
      {
        code: 'database.distributed',
        severity: 'error',
        message: expect.stringContaining(name),
        remedy: expect.stringContaining('docs/guides/sizing.md#distributed-sql'),
      },
    ])
  })

  it.each([
    'PostgreSQL 13.0 on x86_64-pc-linux-gnu, compiled by gcc (GCC) 11.4.0, 64-bit',
    'PostgreSQL 16.4 (Debian 16.4-1.pgdg120+1) on aarch64-unknown-linux-gnu, compiled by gcc, 64-bit',
  ])('with the version %j is taken for one', (version) => {
    expect(distributedOf(version, false)).toBe(undefined)
  })

  it.skipIf(!inject('postgres_url'))('has no further finding if it is distributed', LONG, async () => {
    const { url, remove } = await createPostgresDatabase()
    onTestFinished(remove)
    const storage = await openStorage({ database: url })
    await storage.db.run("CREATE FUNCTION version() RETURNS text LANGUAGE sql AS $$ SELECT 'CockroachDB CCL v24' $$")
    const name = new URL(url).pathname.slice(1)
    await storage.db.run(`ALTER DATABASE ${name} SET search_path = public, pg_catalog`)
    await storage.close()
    const findings = await runDoctor({ server: { port: 9 }, database: { url } })
    const codes = [...findings.keys()].filter((code) => code.startsWith('database.'))
    // Whether there is a pooler is found out before, without a look at the database.
    expect([codes, findings.get('stream')?.severity]).toEqual([
      ['database.no_pooler', 'database.distributed'],
      'skipped',
    ])
  })

  it('with fewer connections than one process may open', async () => {
    const connections = { free: 25, by: 'server' as const, name: '' }
    const facts = { version: '15.8', settings: {}, read_only: false, connections }
    const judge = (pool_size: number, workers = 1) => {
      const found = judgeDatabase(facts, parseConfig({ database: { pool_size }, cluster: { workers } }))
      return found.find(({ code }) => /connections$/.test(code))
    }
    expect(judge(10)).toMatchObject({ code: 'database.connections', message: expect.stringContaining('2 processes') })
    expect(judge(26)).toMatchObject({ code: 'database.few_connections', severity: 'warning' })
    const busy = judgeDatabase({ ...facts, nodes: 4 }, parseConfig({ database: { pool_size: 10 } }))
    expect(busy.find(({ code }) => /connections$/.test(code))).toMatchObject({
      code: 'database.few_connections',
      message: expect.stringContaining('4 nodes are running, and together open up to 40'),
    })
    expect(judge(3, 4)).toMatchObject({ code: 'database.connections', message: expect.stringContaining('for 2 such') })
    expect(judge(10, 3)).toMatchObject({
      code: 'database.few_connections',
      message: expect.stringContaining('3 workers opens up to 30'),
    })
  })
})

describe('upstream services', () => {
  it('respond: a provider with discovery, one without, and a model server', LONG, async () => {
    const provider = await startOpenId('provider_a')
    onTestFinished(() => provider.close())
    const models = await answersModels(['llama', 'other'], 'hunter2')
    const plain = {
      ...provider.config,
      issuer: undefined,
      authorization_url: `${provider.issuer}/auth`,
      token_url: `${provider.issuer}/token`,
      userinfo_url: `${provider.issuer}/me`,
    }
    const assistant = { provider: 'openai', base_url: `${models}/v1`, model: 'llama', api_key: 'hunter2' }
    const server = { public_url: 'http://127.0.0.1:9' }
    const config = { server, oauth: { provider_a: provider.config, plain }, database: { url: 'sqlite::memory:' } }
    const well = await runDoctor({ ...config, assistant })
    expect(wrong(well.values())).toEqual([])
    expect([well.get('oauth.reachable')?.severity, well.get('assistant.reachable')?.severity]).toEqual(['ok', 'ok'])

    const trouble = async (change: object) => wrong((await runDoctor({ ...config, ...change })).values())
    expect(await trouble({ assistant: { ...assistant, api_key: 'wrong' } })).toEqual(['assistant.refused'])
    expect(await trouble({ assistant: { ...assistant, model: 'gpt' } })).toEqual(['assistant.unknown_model'])
    expect(await trouble({ assistant: { ...assistant, base_url: `${models}/broken` } })).toEqual(['assistant.failing'])
    expect(await trouble({ assistant: { ...assistant, base_url: 'http://127.0.0.1:9/v1' } })).toEqual([
      'assistant.unreachable',
    ])
    const dead = { ...plain, token_url: 'http://127.0.0.1:9/token' }
    const elsewhere = { ...provider.config, issuer: `${models}/issuer` }
    expect(await trouble({ oauth: { dead } })).toEqual(['oauth.unreachable'])
    expect(await trouble({ oauth: { elsewhere } })).toEqual(['oauth.unreachable'])
    const found = await runDoctor({ ...config, oauth: { elsewhere } })
    expect(found.get('oauth.unreachable')?.message).toMatch(/^Sign-in with elsewhere fails: http.*issuer/)
    expect(JSON.stringify([...found.values()])).not.toContain('canary')
  })
})

it('every finding has a line in a guide', () => {
  const folder = fileURLToPath(new URL('../../../cli', import.meta.url))
  const sources = ['config/warnings.ts', ...readdirSync(join(folder, 'doctor')).map((name) => join('doctor', name))]
  const text = sources.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n')
  const named = text.matchAll(
    /(?:warning|failure|ok|note|skipped|severity)\(\s*'([a-z]+(?:\.\w+)?)'|(?<!until\()'([a-z_]+\.[a-z_0-9]+)'/g,
  )
  const codes = [...named].map(([, first, second]) => (first ?? second)!).filter((code) => !/\.(ts|exp)/.test(code))
  const guide = ['findings', 'data']
    .map((name) => readFileSync(new URL(`../../../docs/guides/doctor-${name}.md`, import.meta.url), 'utf8'))
    .join('\n')
  expect(codes.length).toBeGreaterThan(40)
  expect(codes.filter((code) => !guide.includes(`\`${code}\``))).toEqual([])
})

describe('chat-server doctor', () => {
  it('exits with 0 without problems, 1 with problems, and 2 when it cannot start', LONG, async () => {
    const cwd = folder()
    const env = { CHAT_SERVER__PORT: '9', CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4' }
    const none = await run(['doctor', '--json'], { cwd, env })
    expect([none.code, JSON.parse(none.stdout).healthy]).toEqual([1, false])
    mkdirSync(join(cwd, 'data'), { mode: 0o700 })
    await run(['setup', '--email', 'ada@example.org'], { cwd, env, input: 'correct horse battery' })
    // The low cost of the tests' hashes is a warning.
    const [well, strict, wrongUse] = await Promise.all([
      run(['doctor'], { cwd, env }),
      run(['doctor', '--strict', '--json'], { cwd, env }),
      run(['doctor', '--json'], { cwd, env: { CHAT_SERVER__PORT: 'x' } }),
    ])
    expect([well.code, well.stderr]).toEqual([0, ''])
    expect(well.stdout).toMatch(/^ok {7}configuration.valid .*\nwarning {2}password\.cheap_hashes .*\n +→ Set /)
    expect(well.stdout).toMatch(/^skipped {2}server\.not_running +No service responds at /m)
    expect([strict.code, JSON.parse(strict.stdout).healthy]).toEqual([1, false])
    expect([wrongUse.code, JSON.parse(wrongUse.stdout).error.code]).toEqual([2, 'configuration_invalid'])
  })
})

it('tells when no password can be hashed', async () => {
  expect(await checkPasswords()).toMatchObject([{ code: 'passwords.addon', severity: 'ok' }])
  const missing = async () => {
    throw new Error('Passwords need the addon of @node-rs/bcrypt: install it without --omit=optional')
  }
  expect(await checkPasswords(missing)).toMatchObject([
    {
      code: 'passwords.addon',
      severity: 'error',
      message: expect.stringContaining('addon'),
      remedy: expect.anything(),
    },
  ])
})
