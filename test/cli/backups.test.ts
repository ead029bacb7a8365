import { execFile } from 'node:child_process'
import { hash } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { expect, inject, it, onTestFinished } from 'vitest'
import { judgeAge } from '../../cli/doctor/backups.ts'
import { createPostgresDatabase } from '../support/databases.ts'
import { startBucket } from '../support/s3.ts'
import { commandOf, finished, folder, run, start } from './process.ts'
import { serve } from './serving.ts'

const LONG = { timeout: 120_000 }
const env = { CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4', CHAT_LOG__LEVEL: 'warn', CHAT_BACKUP__TARGET: './backups' }
const setup = ['setup', '--email', 'ada@example.org']
const input = 'correct horse battery'

it('a backup is made, listed, verified, and restored elsewhere', LONG, async () => {
  const cwd = folder()
  const encrypted = { ...env, CHAT_BACKUP__PASSPHRASE: 'twelve or more letters' }
  await run(setup, { cwd, env, input })
  const at = (line: string, vars: Record<string, string> = encrypted) => run(line.split(' '), { cwd, env: vars })

  const made = JSON.parse((await at('backup run --json')).stdout)
  expect(made).toMatchObject({
    target: join(cwd, 'backups'),
    name: expect.stringMatching(/\.db\.gz\.age$/),
    deleted: [],
  })
  expect(JSON.parse((await at('backup list --json')).stdout).backups).toEqual([{ name: made.name, bytes: made.bytes }])
  expect((await at(`backup verify ${made.name}`)).stdout).toContain('is whole: a SQLite database with 1 user, ')
  const wrong = await at(`backup verify ${made.name}`, { ...env, CHAT_BACKUP__PASSPHRASE: 'another passphrase' })
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('it was encrypted with another passphrase')])

  const other = '--database sqlite:./other.db'
  expect(await at(`restore ${made.name} ${other}`)).toMatchObject({ code: 0, stderr: '' })
  expect((await at(`user list ${other}`)).stdout).toContain('ada@example.org')
  const again = await at(`restore backups/${made.name} ${other}`)
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('already exists; --force replaces it')])
  const missing = await at(`restore ${made.name.replace(/\d{8}T/, '20000101T')} ${other} --force`)
  expect(missing.stderr).toContain('"chat-server backup list" lists them')

  renameSync(join(cwd, 'backups'), join(cwd, 'away'))
  const note = `Backups of this database were stored in ${join(cwd, 'backups')}: is its disk mounted?`
  expect(await at('backup list')).toMatchObject({ code: 0, stderr: expect.stringContaining(note) })
  expect(await at('backup list --database sqlite:./none.db')).toMatchObject({ code: 0, stderr: '' })
  renameSync(join(cwd, 'away'), join(cwd, 'backups'))

  truncateSync(join(cwd, 'backups', made.name), made.bytes - 100)
  const cut = await at(`restore ${made.name} ${other} --force`)
  expect([cut.code, cut.stderr]).toEqual([1, 'chat-server: The backup is cut off or damaged\n'])
  expect((await at(`user list ${other}`)).stdout).toContain('ada@example.org')
  expect(readdirSync(cwd).filter((name) => name.includes('partial'))).toEqual([])
})

it('a backup for a public key is read with the secret one, also from standard input', LONG, async () => {
  const identity = await generateX25519Identity()
  const cwd = folder({ 'key.txt': `# created by age-keygen\n${identity}\n`, 'no-key.txt': 'hello\n' })
  const keyed = { ...env, CHAT_BACKUP__RECIPIENT: await identityToRecipient(identity) }
  await run(setup, { cwd, env, input })
  const { name } = JSON.parse((await run(['backup', 'run', '--json'], { cwd, env: keyed })).stdout)
  const locked = await run(['backup', 'verify', name], { cwd, env: keyed })
  expect(locked.stderr).toContain('set backup.passphrase, or pass the secret key with --identity')
  expect((await run(['backup', 'verify', name, '--identity', 'key.txt'], { cwd, env })).code).toBe(0)
  const none = await run(['backup', 'verify', name, '--identity', 'no-key.txt'], { cwd, env })
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('no-key.txt has no secret key of age')])
})

it('bytes that change in a backup are noticed by its SHA-256, where the structure shows nothing', LONG, async () => {
  const cwd = folder()
  await run(setup, { cwd, env, input })
  const at = (line: string) => run(line.split(' '), { cwd, env })
  const { sha256, encrypted } = JSON.parse((await at('backup x.db --json')).stdout)
  expect([readFileSync(join(cwd, 'x.db.sha256'), 'utf8'), encrypted]).toEqual([`${sha256}  x.db\n`, false])
  expect((await at('backup verify x.db')).stdout).toContain(
    'x.db is whole, by its SHA-256: a SQLite database with 1 user, ',
  )
  const bytes = readFileSync(join(cwd, 'x.db'))
  // Unused space between the pointers and the cells of a page: no check of SQLite reads it.
  const at0 = bytes.lastIndexOf(Buffer.alloc(600))
  bytes.fill('x', at0, at0 + 600)
  writeFileSync(join(cwd, 'x.db'), bytes)
  const restore = 'restore x.db --database sqlite:other.db'
  for (const line of ['backup verify x.db', restore])
    expect(await at(line)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('x.db is damaged, or another file'),
    })
  expect(readdirSync(cwd)).not.toContain('other.db')
  rmSync(join(cwd, 'x.db.sha256'))
  const verified = await at('backup verify x.db')
  expect([verified.code, verified.stdout]).toEqual([
    0,
    expect.stringContaining('structure only: there is no x.db.sha256'),
  ])
  expect(await at(restore)).toMatchObject({ code: 0, stderr: expect.stringContaining('structure only') })
})

it('with a key, a backup to a file and to standard output is encrypted, unless it is to be plain', LONG, async () => {
  const cwd = folder()
  const encrypted = { ...env, CHAT_BACKUP__PASSPHRASE: 'twelve or more letters' }
  await run(setup, { cwd, env, input })
  const at = (line: string) => run(line.split(' '), { cwd, env: encrypted })
  expect((await at('backup x.db')).stdout).toMatch(/^Written to x\.db, \d+ bytes, encrypted\.\n$/)
  expect(readFileSync(join(cwd, 'x.db'), 'latin1')).toMatch(/^age-encryption\.org/)
  expect((await at('backup y.db --plain')).code).toBe(0)
  expect(readFileSync(join(cwd, 'y.db'), 'latin1')).toMatch(/^SQLite format 3/)
  const [program, ...args] = commandOf(['backup', '-'])
  const { stdout: bytes, stderr } = await promisify(execFile)(program!, args, {
    cwd,
    env: encrypted,
    encoding: 'buffer',
  })
  expect(String(stderr)).toContain(`${hash('sha256', bytes)}  -\n`)
  // As `chat-server backup - | gzip` makes it: compressed in vain.
  writeFileSync(join(cwd, 'z.db.gz'), gzipSync(bytes))
  for (const name of ['x.db', 'z.db.gz'])
    expect(await at(`restore ${name} --database sqlite:other.db --force`)).toMatchObject({ code: 0, stderr: '' })
  expect((await at('user list --database sqlite:other.db')).stdout).toContain('ada@example.org')
})

it.skipIf(!inject('postgres_url'))('a backup of PostgreSQL fills an empty database of either kind', LONG, async () => {
  const cwd = folder()
  const [one, two] = [await createPostgresDatabase(), await createPostgresDatabase()]
  const on = (url: string) => ({ cwd, env: { ...env, CHAT_DATABASE__URL: url } })
  await run(setup, { ...on(one.url), input })
  const { name } = JSON.parse((await run(['backup', 'run', '--json'], on(one.url))).stdout)
  expect(name).toMatch(/\.jsonl\.gz$/)
  for (const url of [two.url, 'sqlite:./restored.db']) {
    expect(await run(['restore', name], on(url))).toMatchObject({ code: 0, stderr: '' })
    expect((await run(['user', 'list'], on(url))).stdout).toContain('ada@example.org')
    expect((await run(['fsck'], on(url))).code).toBe(0)
  }
  const copied = await run(['backup', 'copy.db', '--database', 'sqlite:./restored.db'], { cwd })
  expect(copied.code).toBe(0)
  const refused = await run(['restore', 'copy.db'], on(two.url))
  expect(refused.stderr).toContain('This backup is a SQLite file: restore it with --database sqlite:<path>')
  await Promise.all([one.remove(), two.remove()])
})

it('a service makes its backups itself, and doctor knows', LONG, async () => {
  const cwd = folder()
  await run(setup, { cwd, env, input })
  const scheduled = { ...env, CHAT_BACKUP__SCHEDULE: '1d', CHAT_LOG__LEVEL: 'info' }
  const findings = async () => {
    const { stdout } = await run(['doctor', '--json'], { cwd, env: { ...scheduled, CHAT_SERVER__PORT: '9' } })
    return JSON.parse(stdout).findings.map(({ code }: { code: string }) => code)
  }
  expect(await findings()).toEqual(expect.arrayContaining(['backup.none', 'backup.target']))
  const server = await serve({ cwd, env: scheduled })
  const page = async () => (await fetch(`${server.url}/metrics`)).text()
  await expect.poll(page, { timeout: 60_000, interval: 500 }).toMatch(/chat_backup_last_success_seconds [1-9]/)
  server.child.kill('SIGTERM')
  expect((await server.end).code).toBe(0)
  expect(await findings()).toContain('backup.last')
  const [name] = readdirSync(join(cwd, 'backups'))
  expect(readFileSync(join(cwd, 'backups', name!)).subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]))
})

it.each(['SIGINT', 'SIGTERM'] as const)('a backup that %s interrupts leaves nothing', LONG, async (signal) => {
  const cwd = folder()
  await run(setup, { cwd, env, input })
  const bucket = await startBucket()
  onTestFinished(() => bucket.close())
  const { endpoint, region, access_key_id, secret_access_key } = bucket.options
  const s3 = {
    CHAT_BACKUP__TARGET: 's3://chat/here',
    CHAT_BACKUP__S3__ENDPOINT: endpoint!,
    CHAT_BACKUP__S3__REGION: region,
    CHAT_BACKUP__S3__ACCESS_KEY_ID: access_key_id,
    CHAT_BACKUP__S3__SECRET_ACCESS_KEY: secret_access_key,
  }
  const child = start(['backup', 'run'], { cwd, env: { ...env, ...s3 } })
  bucket.trouble = (what) => {
    if (what !== 'PUT object') return undefined
    child.kill(signal)
    return 'hang'
  }
  expect(await finished(child)).toMatchObject({ code: 1, stderr: 'chat-server: The backup was interrupted\n' })
  expect(readdirSync(join(cwd, 'data')).filter((name) => name.includes('.copy-'))).toEqual([])
  expect(bucket.objects.size).toBe(0)
  // The lease is free.
  expect((await run(['backup', 'run'], { cwd, env })).code).toBe(0)
})

it.each([
  ['backup.last', { succeeded_at: 1, error: null }, 0],
  ['backup.none', { succeeded_at: null, error: null }, 0],
  ['backup.late', { succeeded_at: 1, error: 'S3 answers 500' }, 7_200_000_000],
  ['backup.late', { succeeded_at: null, error: null }, 7_200_000_000],
])('doctor finds %s', (code, state, late) => {
  const common = { owner: 'x', created_at: 0, attempted_at: 0, failures: 0, detail: null, target: null }
  const finding = judgeAge({ ...common, ...state }, late)
  expect(finding.code).toBe(code)
  if (state.error) expect(finding.message).toContain('the last attempt failed: S3 answers 500')
})
