import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { toFailure } from '../../../cli/errors.ts'
import { openStorage } from '../../../lib/storage/open.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { runDoctor, wrong } from '../../cli/run-checks.ts'
import { startTlsServer, type TlsServer, type TlsSettings, withoutTls } from '../../support/postgres-tls.ts'
import { startService, startThread } from '../../support/service.ts'

const LONG = { timeout: 120_000 }

const UNTRUSTED = /^The database cannot be used now: The certificate of PostgreSQL is not signed by a trusted authority/
const OTHER_HOST = /The certificate of PostgreSQL is not valid for the host in the URL/
const UNENCRYPTED = /no pg_hba\.conf entry for host "127\.0\.0\.1".*no encryption$/
const NO_TLS = /: The server does not support SSL connections$/

/** The authority of the server's certificate, and another one. */
type Root = 'authority' | 'other_authority' | undefined

describe.skipIf(withoutTls)(`PostgreSQL with TLS${withoutTls && `: skipped, ${withoutTls}`}`, () => {
  let server: TlsServer
  beforeAll(async () => {
    server = await startTlsServer()
  }, LONG.timeout)
  afterAll(() => server.stop())

  /** Whether the connection is encrypted, or why there is none, as the command line reports it. */
  async function connect(url: string): Promise<'encrypted' | 'plain' | string> {
    try {
      const { db, close } = await openStorage({ database: url })
      const row = await db.get<{ ssl: boolean }>(sql`SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()`)
      await close()
      return row?.ssl ? 'encrypted' : 'plain'
    } catch (error) {
      return toFailure(error).message
    }
  }

  const settingsOf = (sslmode: string | undefined, root: Root, more: TlsSettings = {}): TlsSettings => ({
    ...(sslmode && { sslmode }),
    ...(root && { sslrootcert: server[root] }),
    ...more,
  })

  it.each([
    [undefined, undefined, UNENCRYPTED],
    ['disable', undefined, UNENCRYPTED],
    ['disable', 'authority', UNENCRYPTED],
    [undefined, 'authority', 'encrypted'],
    ...['prefer', 'require', 'verify-ca', 'verify-full'].flatMap((sslmode) => [
      [sslmode, 'authority', 'encrypted'] as const,
      [sslmode, 'other_authority', UNTRUSTED] as const,
      [sslmode, undefined, UNTRUSTED] as const,
    ]),
    ['no-verify', undefined, 'encrypted'],
    ['no-verify', 'other_authority', 'encrypted'],
  ] as const)('is required: sslmode %s with sslrootcert %s gives %s', async (sslmode, root, expected) => {
    expect(await connect(server.urlOf(settingsOf(sslmode, root)))).toMatch(expected)
  })

  it.each([
    ['require', 'authority', OTHER_HOST],
    ['verify-ca', 'authority', OTHER_HOST],
    ['verify-full', 'authority', OTHER_HOST],
    ['no-verify', undefined, 'encrypted'],
  ] as const)('checks the host: sslmode %s with sslrootcert %s gives %s', async (sslmode, root, expected) => {
    expect(await connect(server.urlOf(settingsOf(sslmode, root), '127.0.0.1'))).toMatch(expected)
  })

  it.each([
    ['require', undefined, 'encrypted'],
    ['require', 'authority', 'encrypted'],
    ['require', 'other_authority', UNTRUSTED],
    ['verify-ca', 'authority', 'encrypted'],
    ['verify-full', 'authority', OTHER_HOST],
  ] as const)(
    'checks with uselibpqcompat what psql checks: sslmode %s with sslrootcert %s gives %s',
    async (sslmode, root, expected) => {
      const url = server.urlOf(settingsOf(sslmode, root, { uselibpqcompat: 'true' }), '127.0.0.1')
      expect(await connect(url)).toMatch(expected)
    },
  )

  it('gets the certificate of a client', async () => {
    const { db, close } = await openStorage({
      database: server.urlOf(settingsOf('verify-full', 'authority', server.client)),
    })
    onTestFinished(close)
    const subjects = () => db.get(sql`SELECT client_dn FROM pg_stat_ssl WHERE pid = pg_backend_pid()`)
    // Also on further connections of the pool.
    const found = await Promise.all([subjects(), subjects(), subjects()])
    expect(new Set(found.map((row) => JSON.stringify(row)))).toEqual(new Set(['{"client_dn":"/CN=postgres"}']))
  })

  it('is not tried without a file of sslrootcert', async () => {
    const url = server.urlOf({ sslmode: 'verify-full', sslrootcert: '/nowhere/ca.pem' })
    expect(await connect(url)).toContain('/nowhere/ca.pem does not exist')
  })

  it('carries a service, an export, and the connection that an import opens', LONG, async () => {
    const url = server.urlOf(settingsOf('verify-full', 'authority'))
    const service = await startService(url)
    onTestFinished(() => service.close())
    const { ada, root } = await startThread(service)
    await ada.messages.reply(root.message_id, { content: 'encrypted' })
    const storage = await openStorage({ database: url })
    onTestFinished(() => storage.close())
    const lines: string[] = []
    await storage.export((text) => void lines.push(text))
    await storage.db.fill!(async (tx) => expect(await tx.get(sql`SELECT 1 AS one`)).toEqual({ one: 1 }))
    expect(lines.join('')).toContain('encrypted')
  })

  it.each([
    ['verify-full', 'other_authority', 'not signed by a trusted authority', 'Correct the host or sslrootcert'],
    [undefined, undefined, 'no encryption', 'Add sslmode=verify-full to database.url'],
  ] as const)('is reported by the doctor: sslmode %s with sslrootcert %s', LONG, async (sslmode, root, why, remedy) => {
    const url = server.urlOf(settingsOf(sslmode, root))
    const found = await runDoctor({ server: { port: 9 }, database: { url } })
    expect(wrong(found.values())).toEqual(['database.unusable'])
    expect(found.get('database.unusable')).toMatchObject({
      message: expect.stringContaining(why),
      remedy: expect.stringContaining(remedy),
    })
    expect(found.get('database.pooler')?.message).toContain(why)
  })

  it('is missed by the doctor only between machines', LONG, async () => {
    const judged = async (...where: Parameters<TlsServer['urlOf']>) => {
      const found = await runDoctor({ server: { port: 9 }, database: { url: server.urlOf(...where) } })
      return found.get('database.unencrypted')
    }
    expect(await judged({ sslmode: 'no-verify' }, '0.0.0.0')).toBeUndefined()
    await server.use('off')
    onTestFinished(() => server.use('required'))
    expect(await judged({}, 'localhost')).toBeUndefined()
    expect(await judged({}, '0.0.0.0')).toMatchObject({
      severity: 'note',
      message: 'The connections to PostgreSQL at 0.0.0.0 are not encrypted.',
      remedy: expect.stringContaining('sslmode=verify-full'),
    })
  })

  it('turned off is only refused by a URL that asks for it', LONG, async () => {
    await server.use('off')
    onTestFinished(() => server.use('required'))
    for (const sslmode of ['prefer', 'require', 'verify-full', 'no-verify'])
      expect(await connect(server.urlOf({ sslmode })), sslmode).toMatch(NO_TLS)
    expect(await connect(server.urlOf())).toBe('plain')
    expect(await connect(server.urlOf({ sslmode: 'disable' }))).toBe('plain')
    const found = await runDoctor({ server: { port: 9 }, database: { url: server.urlOf({ sslmode: 'require' }) } })
    expect(found.get('database.unusable')).toMatchObject({
      message: expect.stringContaining('The server does not support SSL connections'),
      remedy: expect.stringContaining('ssl = on'),
    })
  })
})
