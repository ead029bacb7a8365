import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createBackups } from '../../lib/backups/backups.ts'
import { wasMissing } from '../../lib/backups/place.ts'
import { backupName, describeWriter, outdated, overdueFor } from '../../lib/backups/rules.ts'
import { writeTo } from '../../lib/backups/source.ts'
import { findState } from '../../lib/backups/store.ts'
import { verifyBackup } from '../../lib/backups/verify.ts'
import { parseSchedule } from '../../lib/core/scheduling/schedule.ts'
import { HOUR } from '../../lib/core/units.ts'
import { openStorage, parseConfig, type Storage } from '../../lib/index.ts'
import { sql } from '../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { startBucket, type TestBucket } from '../support/s3.ts'
import { innerState, startService, startThread } from '../support/service.ts'

function newFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'chat-backups-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** The names of the backups at a place, which has a marker of each database, too. */
const namesIn = (folder: string) => readdirSync(folder).filter((name) => !name.startsWith('marker-'))

const keysIn = ({ objects }: TestBucket) => [...objects.keys()].filter((key) => !key.includes('/marker-'))

async function* bytesOf(...parts: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts
}

/** The backups of one process, with a clock that the test sets. */
async function open(url: string, backup: object) {
  const storage: Storage = await openStorage({ database: url })
  onTestFinished(() => storage.close())
  const clock = { now: Date.parse('2026-11-22T10:00:00Z') * 1000, isTrusted: true }
  const lines: string[] = []
  let failed = 0
  const add = (level: string) => (message: string, fields?: object) =>
    void lines.push(`${level} ${message} ${JSON.stringify(fields)}`)
  const backups = createBackups({
    config: parseConfig({ backup }),
    db: storage.db,
    metrics: { backupFailed: () => void failed++ },
    log: { debug: add('debug'), info: add('info'), warn: add('warn'), error: add('error') },
    now: () => clock.now,
    isTrusted: () => clock.isTrusted,
    files: () => Promise.reject(new Error('not needed')),
  })
  return { storage, backups, clock, lines, failures: () => failed, state: () => findState(storage.db) }
}

describeOnEachDatabase('backups', (openUrl, dialect) => {
  const ends = dialect === 'sqlite' ? '.db.gz' : '.jsonl.gz'

  it('are made when they are due, checked, and kept as many as configured', { timeout: 60_000 }, async () => {
    const url = await openUrl()
    const service = await startService(url)
    await startThread(service)
    await service.close()
    const target = newFolder()
    writeFileSync(join(target, 'chat-server-00000000-20200101T000000Z.db.gz'), 'of another service')
    const { backups, clock, state, lines } = await open(url, { schedule: '6h', keep: 2, target })
    await backups.check()
    await backups.check()
    const own = () => namesIn(target).filter((name) => !name.includes('-00000000-'))
    expect(own()).toEqual([expect.stringMatching(new RegExp(`^chat-server-[0-9a-f]{8}-20261122T100000Z${ends}$`))])
    expect(await verifyBackup(bytesOf(readFileSync(join(target, own()[0]!))), {})).toMatchObject({
      users: 3,
      messages: 1,
    })

    for (const hours of [5, 1, 6, 6]) {
      clock.now += hours * HOUR
      await backups.check()
    }
    expect(own().map((name) => name.split('-').at(-1))).toEqual([`20261122T220000Z${ends}`, `20261123T040000Z${ends}`])
    expect(namesIn(target).length).toBe(3)
    expect(await state()).toMatchObject({ succeeded_at: clock.now, failures: 0 })
    expect(lines.filter((line) => line.startsWith('info Made a backup')).length).toBe(4)
  })

  it('are made by one of several processes', { timeout: 60_000 }, async () => {
    const url = await openUrl()
    const target = newFolder()
    const nodes = [await open(url, { schedule: '1d', target }), await open(url, { schedule: '1d', target })]
    await Promise.all(nodes.map(({ backups }) => backups.check()))
    expect(namesIn(target).length).toBe(1)
    const [{ storage, backups }] = nodes as [Awaited<ReturnType<typeof open>>]
    const leaseUntil = (micros: number) =>
      storage.db.run(sql`UPDATE schedules SET writer = 'another', lease_expires_at = ${micros}`)
    await leaseUntil(Number.MAX_SAFE_INTEGER)
    await expect(backups.run()).rejects.toThrow('Another process is making a backup')
    // That process has died: its lease expires.
    await leaseUntil(1)
    expect(await backups.run()).toMatchObject({ deleted: [] })
  })

  it('name the process that makes one now, and since when', async () => {
    const url = await openUrl()
    const bucket = await startBucket()
    onTestFinished(() => bucket.close())
    const { endpoint, region, access_key_id, secret_access_key } = bucket.options
    const s3 = { endpoint, region, access_key_id, secret_access_key }
    const { backups } = await open(url, { target: 's3://chat/here', s3 })
    const { backups: others } = await open(url, { target: newFolder() })
    const began = Date.now()
    let message = ''
    bucket.trouble = async (what) => {
      if (what === 'PUT object' && !message) await others.run().catch((error: Error) => (message = error.message))
      return undefined
    }
    await backups.run()
    const [, since, process_] = /^Another process is making a backup now: since (\S+), (.+)$/.exec(message) ?? []
    expect(process_).toBe(`process ${process.pid} on ${hostname()}`)
    expect(Date.parse(since!)).toBeGreaterThanOrEqual(began)
    expect(Date.parse(since!)).toBeLessThanOrEqual(Date.now())
    // A lease of a version that does not name its process.
    expect(describeWriter('019ac123-0000-7000-8000-000000000000')).toBe('since 2025-11-26T17:08:07.808Z')
  })

  it('that end just before another one begins do not keep it from being made', async () => {
    const url = await openUrl()
    const [one, two] = [await open(url, { target: newFolder() }), await open(url, { target: newFolder() })]
    await one.backups.run()
    // Between the look at the state and the lease.
    const { write } = two.storage.db
    let isFirst = true
    two.storage.db.write = async (work, options) => {
      if (isFirst) {
        isFirst = false
        one.clock.now += HOUR
        await one.backups.run()
      }
      return write(work, options)
    }
    expect(await two.backups.run()).toMatchObject({ deleted: [] })
  })

  it('that were missed are made once, and cron waits for its time', async () => {
    const url = await openUrl()
    const target = newFolder()
    const { backups, clock } = await open(url, { schedule: '0 3 * * *', target })
    await backups.check()
    expect(namesIn(target)).toEqual([])
    clock.now += 4 * 24 * HOUR
    await backups.check()
    clock.now += HOUR
    await backups.check()
    expect(namesIn(target).length).toBe(1)
  })

  it('are refused where the disk of the last one is not mounted, and go on once it is', async () => {
    const target = newFolder()
    const settings = { schedule: '6h', keep: 2 }
    const url = await openUrl()
    const { backups, clock, state, failures } = await open(url, { ...settings, target })
    await backups.check()
    renameSync(target, `${target}-away`)
    mkdirSync(target)
    clock.now += 6 * HOUR
    await backups.check()
    expect([readdirSync(target), failures(), wasMissing((await state())!)]).toEqual([[], 1, true])
    await expect(backups.run()).rejects.toThrow('The place of the backups is missing')
    rmSync(target, { recursive: true })
    await expect(backups.run()).rejects.toThrow('The place of the backups is missing')
    expect(existsSync(target)).toBe(false)
    renameSync(`${target}-away`, target)
    await backups.run()
    expect([namesIn(target).length, wasMissing((await state())!)]).toEqual([2, false])
    // One of marker and backups is enough.
    for (const name of namesIn(target)) rmSync(join(target, name))
    clock.now += HOUR
    await backups.run()
    for (const name of readdirSync(target)) if (name.startsWith('marker-')) rmSync(join(target, name))
    clock.now += HOUR
    await backups.run()
    // Another place is a new one.
    const other = await open(url, { ...settings, target: newFolder() })
    other.clock.now = clock.now + HOUR
    await other.backups.run()
    expect(other.lines.join()).toContain('Backups are stored at another place from now on')
  })

  it.each([
    ['nothing', false],
    ['an empty folder', true],
  ])('store none where a disk is unmounted meanwhile, and leaves %s', async (_, leavesFolder) => {
    const target = newFolder()
    const { backups, clock, state } = await open(await openUrl(), { schedule: '6h', keep: 2, target })
    await backups.run()
    const [before, later] = [namesIn(target), clock.now + HOUR]
    // The time is read for the state, and then, when the place was looked at, for the name.
    let reads = 0
    Object.defineProperty(clock, 'now', {
      get() {
        if (++reads === 2) {
          renameSync(target, `${target}-away`)
          if (leavesFolder) mkdirSync(target)
        }
        return later
      },
    })
    await expect(backups.run()).rejects.toThrow(leavesFolder ? 'The place of the backups is missing' : 'ENOENT')
    expect(existsSync(target) && readdirSync(target)).toEqual(leavesFolder ? [] : false)
    expect((await state())!.succeeded_at).toBeLessThan(later)
    rmSync(target, { recursive: true, force: true })
    renameSync(`${target}-away`, target)
    expect(namesIn(target)).toEqual(before)
    await backups.run()
    expect(namesIn(target).length).toBe(2)
  })

  it('of an earlier version, and of several databases at one place, go on, and none locks out another', async () => {
    const target = newFolder()
    const settings = { schedule: '6h', keep: 5, target }
    const all = [await open(await openUrl(), settings), await open(await openUrl(), settings)]
    const marker = (name: string) => name.startsWith('marker-')
    const removeMarkers = () => {
      for (const name of readdirSync(target).filter(marker)) rmSync(join(target, name))
    }
    const runAll = async () => {
      for (const { backups, clock } of all) {
        clock.now += HOUR
        await backups.run()
      }
    }
    await runAll()
    // As before markers, and before the place was noted.
    removeMarkers()
    for (const { storage } of all) await storage.db.run(sql`UPDATE schedules SET target = NULL`)
    await runAll()
    expect([namesIn(target).length, readdirSync(target).filter(marker).length]).toEqual([4, 2])
    // One has lost its marker and its backups, and not the others theirs.
    const { owner } = (await all[0]!.state())!
    for (const name of readdirSync(target)) if (name.includes(owner)) rmSync(join(target, name))
    await expect(all[0]!.backups.run()).rejects.toThrow('The place of the backups is missing')
    await all[1]!.backups.run()
    expect(namesIn(target).filter((name) => name.includes(owner))).toEqual([])
    const third = await open(await openUrl(), settings)
    await third.backups.run()
    expect(wasMissing((await third.state())!)).toBe(false)
  })

  it('end quietly when the target or the service goes away in the middle', async () => {
    const url = await openUrl()
    const bucket = await startBucket()
    const { endpoint, region, access_key_id, secret_access_key } = bucket.options
    const s3 = { endpoint, region, access_key_id, secret_access_key }
    const { backups, state, lines } = await open(url, { schedule: '1d', target: 's3://chat/here', s3 })
    bucket.trouble = (what) => {
      if (what === 'PUT object') backups.stop()
      return 'hang'
    }
    await backups.check()
    await bucket.close()
    // The next process begins at once: no failure was stored.
    expect([await state(), lines, bucket.objects.size]).toEqual([
      expect.objectContaining({ failures: 0, succeeded_at: null }),
      [],
      0,
    ])
    const next = await open(url, { schedule: '1d', target: 's3://chat/here', s3 })
    await next.backups.check()
    expect(next.lines).toEqual([
      expect.stringMatching(/^warn A backup failed and will be tried again .*does not answer/),
    ])
    const target = newFolder()
    const last = await open(url, { schedule: '1d', target })
    last.clock.now += HOUR
    await last.backups.check()
    expect(namesIn(target).length).toBe(1)
  })

  it('follow a reload of the configuration', async () => {
    const service = await startService(await openUrl())
    onTestFinished(() => service.close())
    const { backups, settings } = innerState(service)
    await backups.check()
    const target = newFolder()
    const { backup } = parseConfig({ backup: { schedule: '1d', target } })
    expect(await service.chat.reload({ ...settings.current(), backup })).toMatchObject({ needs_restart: [] })
    await backups.check()
    expect(namesIn(target).length).toBe(1)
  })

  it('that fail are logged, leave nothing, and are tried again later', async () => {
    const url = await openUrl()
    const bucket = await startBucket()
    onTestFinished(() => bucket.close())
    const { endpoint, region, access_key_id, secret_access_key } = bucket.options
    const s3 = { endpoint, region, access_key_id, secret_access_key }
    const { backups, clock, state, lines, failures } = await open(url, { schedule: '1d', target: 's3://chat/here', s3 })
    bucket.trouble = (what) => (what.startsWith('PUT') ? 400 : undefined)
    await backups.check()
    await backups.check()
    expect([failures(), bucket.objects.size]).toEqual([1, 0])
    expect(lines).toEqual([expect.stringMatching(/^warn A backup failed and will be tried again .*S3 answers 400/)])
    expect(await state()).toMatchObject({
      failures: 1,
      succeeded_at: null,
      error: expect.stringContaining('S3 answers 400'),
    })
    bucket.trouble = () => undefined
    clock.now += HOUR / 60
    await backups.check()
    expect(bucket.objects.size).toBe(0)
    clock.now += HOUR / 60
    await backups.check()
    expect(keysIn(bucket)).toEqual([expect.stringMatching(/^here\/chat-server-/)])
    expect(await state()).toMatchObject({ failures: 0, error: null })
  })

  it('delete nothing when what was stored is not what was sent', async () => {
    const url = await openUrl()
    const bucket = await startBucket()
    onTestFinished(() => bucket.close())
    const { endpoint, region, access_key_id, secret_access_key } = bucket.options
    const s3 = { endpoint, region, access_key_id, secret_access_key }
    const { backups, clock } = await open(url, { schedule: '1h', keep: 1, target: 's3://chat/here', s3 })
    await backups.check()
    const [first] = keysIn(bucket)
    clock.now += HOUR
    bucket.trouble = (what) => {
      if (what === 'GET object')
        for (const key of keysIn(bucket)) if (key !== first) bucket.objects.set(key, Buffer.from('damaged'))
      return undefined
    }
    await backups.check()
    expect(keysIn(bucket)).toEqual([first])
  })

  it('of the same second do not replace each other', async () => {
    const target = newFolder()
    const { backups, clock } = await open(await openUrl(), { target })
    const names = [await backups.run(), await backups.run(), await backups.run()].map(({ name }) => name)
    expect(names.map((name) => name.split('-').at(-1))).toEqual([0, 1, 2].map((n) => `20261122T10000${n}Z${ends}`))
    clock.now += HOUR
    names.push((await backups.run()).name)
    expect(names.at(-1)).toContain('T110000Z')
    expect(namesIn(target)).toEqual(names)
  })

  it('are never outlived by those with later names, which the log names', async () => {
    const target = newFolder()
    const { backups, clock, lines } = await open(await openUrl(), { keep: 2, target })
    const now = clock.now
    // A clock runs ahead for two backups, and is then set.
    for (const hours of [1000, 1001, 0, 1, 2]) {
      clock.now = now + hours * HOUR
      const { name, deleted } = await backups.run()
      expect(namesIn(target)).toContain(name)
      expect(deleted.length).toBe(hours === 2 ? 1 : 0)
    }
    const ahead = [1000, 1001].map((hours) => backupName('', now + hours * HOUR, ends).slice('chat-server--'.length))
    expect(namesIn(target).map((name) => name.split('-').at(-1))).toEqual([
      `20261122T110000Z${ends}`,
      `20261122T120000Z${ends}`,
      ...ahead,
    ])
    expect(lines.filter((line) => line.startsWith('warn Backups have a later time')).length).toBe(3)
    expect(lines.at(-1)).toContain(ahead[1])
  })

  it('are due again after a clock was set back', async () => {
    const url = await openUrl()
    const bucket = await startBucket()
    onTestFinished(() => bucket.close())
    const { endpoint, region, access_key_id, secret_access_key } = bucket.options
    const s3 = { endpoint, region, access_key_id, secret_access_key }
    const { backups, clock, state, lines } = await open(url, { schedule: '6h', target: 's3://chat/here', s3 })
    const now = clock.now
    clock.now += 1000 * HOUR
    await backups.check()
    clock.now = now
    const schedule = parseSchedule('6h')!
    const overdue = async () => overdueFor(schedule, (await state())!, clock.now) / HOUR
    await backups.check()
    expect(lines.at(-1)).toMatch(/^warn The last backup has a later time than now/)
    expect(await state()).toMatchObject({ attempted_at: now, succeeded_at: now })
    bucket.trouble = () => 400
    clock.now += 6 * HOUR
    await backups.check()
    clock.now += HOUR
    expect([await overdue(), (await state())!.failures]).toEqual([1, 1])
    bucket.trouble = () => undefined
    await backups.check()
    expect([await overdue(), keysIn(bucket).length]).toEqual([0, 2])
  })

  it.each<[string, (stop: () => void) => 403 | undefined, string]>([
    ['cannot be read', () => 403, 'S3 answers 403'],
    ['are interrupted while they are read', (stop) => void stop(), 'The service stops'],
  ])('that %s are deleted', async (_, trouble, message) => {
    const bucket = await startBucket()
    onTestFinished(() => bucket.close())
    const { endpoint, region, access_key_id, secret_access_key } = bucket.options
    const s3 = { endpoint, region, access_key_id, secret_access_key }
    const { backups } = await open(await openUrl(), { target: 's3://chat/here', s3 })
    bucket.trouble = (what) => (what === 'GET object' ? (trouble(backups.stop) ?? 'hang') : undefined)
    await expect(backups.run()).rejects.toThrow(message)
    expect([bucket.requests.includes('PUT object'), bucket.objects.size]).toEqual([true, 0])
  })

  it('that cannot be read nor deleted are named in the log', async () => {
    const bucket = await startBucket()
    onTestFinished(() => bucket.close())
    const { endpoint, region, access_key_id, secret_access_key } = bucket.options
    const s3 = { endpoint, region, access_key_id, secret_access_key }
    const { backups, lines } = await open(await openUrl(), { target: 's3://chat/here', s3 })
    bucket.trouble = (what) => (what === 'PUT object' ? undefined : 403)
    await expect(backups.run()).rejects.toThrow('S3 answers 403')
    expect(lines).toEqual([expect.stringMatching(/^warn A backup that failed remains: delete it .*chat-server-/)])
  })

  it('of a copy have an id of their own after events renew-epoch', async () => {
    const target = newFolder()
    const { backups, clock, storage, state } = await open(await openUrl(), { keep: 1, target })
    const { name } = await backups.run()
    // As copied while a backup was being made.
    await storage.db.run(sql`UPDATE schedules SET writer = 'another', lease_expires_at = ${Number.MAX_SAFE_INTEGER}`)
    await storage.renewEpoch()
    expect(await state()).toBe(undefined)
    clock.now += HOUR
    expect((await backups.run()).deleted).toEqual([])
    expect(namesIn(target)).toContain(name)
  })

  it('are encrypted for a passphrase or a public key', { timeout: 60_000 }, async () => {
    const url = await openUrl()
    const identity = await generateX25519Identity()
    const recipient = await identityToRecipient(identity)
    const passphrase = 'twelve or more letters'
    for (const [how, right, wrong] of [
      [{ passphrase }, { passphrase }, { passphrase: 'another passphrase' }],
      [{ recipient }, { identity }, { identity: await generateX25519Identity() }],
    ]) {
      const target = newFolder()
      const { backups } = await open(url, { target, ...how })
      const { name } = await backups.run()
      expect(name.endsWith(`${ends}.age`)).toBe(true)
      const packed = readFileSync(join(target, name))
      const read = (keys: object, bytes: Uint8Array = packed) => verifyBackup(bytesOf(bytes), keys)
      expect(await read(right!)).toMatchObject({ users: 0 })
      await expect(read(wrong!)).rejects.toThrow('it was encrypted with another passphrase or key')
      await expect(read({})).rejects.toThrow('The backup is encrypted: set backup.passphrase')
      await expect(read(right!, packed.subarray(0, -100))).rejects.toThrow('cut off or damaged')
    }
  })
})

it('an export that waits for its reader leaves no listeners', async () => {
  const stream = new PassThrough({ highWaterMark: 1 })
  const count = () => stream.eventNames().reduce((sum, name) => sum + stream.listenerCount(name), 0)
  const before = count()
  for (let n = 0; n < 20; n++) {
    const written = writeTo(stream, 'a line')
    stream.read()
    await written
  }
  expect(count()).toBe(before)
  const cut = writeTo(stream, 'a line')
  stream.destroy()
  await cut
  await expect(writeTo(stream, 'a line')).rejects.toThrow('cancelled')
})

it('a backup from the future does not silence the alert', () => {
  const late = overdueFor({ every_ms: 3_600_000 }, { created_at: 0, succeeded_at: 1000 * HOUR }, 10 * HOUR)
  expect(late).toBe(10 * HOUR - HOUR)
})

it('one of the same second and another kind counts as older than the backup just made', () => {
  const [made, other, older] = ['Z.db.gz', 'Z.db.gz.age', 'Z.db.gz'].map(
    (ends, n) => `chat-server-7c3f0a92-20261122T0${n === 2 ? 1 : 3}0000${ends}`,
  ) as [string, string, string]
  expect(outdated([older, made, other], made, 1)).toEqual({ old: [other, older], later: [] })
  expect(outdated([older, made, other], older, 1)).toEqual({ old: [], later: [made, other] })
})

describe('verifyBackup', () => {
  it.each<[string, Uint8Array, string]>([
    ['nothing', new Uint8Array(), 'is empty'],
    ['something else', Buffer.from('hello'), 'neither a backup nor an export'],
    ['half a gzip header', Buffer.from([0x1f, 0x8b, 8, 0]), 'cut off or damaged'],
    ['an export without its end', Buffer.from('{"chat_server_archive":1,"migrations":[]}\n'), 'its end is missing'],
    ['half a database', Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(3000)]), 'is not a database'],
  ])('refuses %s', async (_, bytes, message) => {
    await expect(verifyBackup(bytesOf(bytes), {})).rejects.toThrow(message)
  })
})
