import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { sweepFiles } from '../../../lib/chat/attachments/sweep.ts'
import type { LogFields } from '../../../lib/ports.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { startBucket } from '../../support/s3.ts'
import { codeOf, innerState, startService, type TestService } from '../../support/service.ts'
import { type Bytes, bytesFor, bytesOf, memoryFiles, startWithFiles, upload } from './files.ts'

const MARKER = 'chat-server-storage'

/** A log whose messages a test reads. */
function capturedLog() {
  const lines: string[] = []
  const add = (message: string, fields: LogFields = {}) => void lines.push(`${message} ${fields.cause ?? ''}`.trim())
  return { lines, log: { debug() {}, info: add, warn: add, error: add } }
}

/** Every node looks at the place of the files, as each does every 30 seconds. */
const lookAll = ({ nodes }: TestService) => Promise.all(nodes.map((node) => innerState(node).files.place.inspect()))

/** A service with one file in a message, and what a test does with it. */
async function begin<S extends TestService>(service: S) {
  onTestFinished(() => service.close())
  const ada = await service.signIn('ada')
  const bytes = await bytesFor(service, ada)
  const place = (await ada.conversations.create({ title: 'Files' })).conversation_id
  const content = bytesOf(1000, 'first')
  const id = await upload(ada, bytes, place, { content })
  await ada.messages.postRoot(place, { content: 'a file', attachment_ids: [id] })
  const read = (of = id) => bytes.read(`/api/attachments/${of}/content`)
  const send = (seed: string) => upload(ada, bytes, place, { content: bytesOf(10, seed) })
  return { service, ada, bytes, place, id, content, read, send }
}

async function expectUnavailable(response: Response): Promise<void> {
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '30'])
}

/** A part of an upload that was begun before. */
async function beginUpload({
  ada,
  place,
  bytes,
}: {
  ada: Awaited<ReturnType<TestService['signIn']>>
  place: string
  bytes: Bytes
}) {
  const { attachment } = await ada.attachments.create(place, { name: 'later', size: 10 })
  return () => bytes.put(attachment.id, 1, bytesOf(10, 'later'))
}

describeOnEachDatabase('a folder of files that is moved away', (openUrl) => {
  for (const leaves of ['nothing', 'an empty folder'] as const) {
    it(`and leaves ${leaves} makes reads and uploads 503, harms no file, and is found again`, async () => {
      const { lines, log } = capturedLog()
      const service = await startWithFiles(await openUrl(), { ports: { log } })
      const { folder } = service
      const all = await begin(service)
      const { read, send, content, id, ada, place } = all
      const put = await beginUpload(all)
      expect((await read()).status).toBe(200)

      renameSync(folder, `${folder}-away`)
      if (leaves === 'an empty folder') mkdirSync(folder)
      // Without a look before: the first read finds out.
      await expectUnavailable(await read())
      await lookAll(service)
      await expectUnavailable(await read())
      await expectUnavailable(await put())
      expect(await codeOf(ada.attachments.create(place, { name: 'a', size: 10 }))).toBe('unavailable')
      expect(lines.filter((line) => line.startsWith('The storage of files is missing'))).not.toEqual([])
      // Nothing is made where the disk should be, and nothing is taken for lost.
      expect(existsSync(folder) && readdirSync(folder)).toEqual(leaves === 'nothing' ? false : [])
      expect((await ada.attachments.get(id)).attachment.status).toBe('ready')

      const context = innerState(service)
      await context.db.write((tx) =>
        tx.run(sql`INSERT INTO blobs (id, size, parts, created_at, released_at) VALUES (${context.id()}, 5, 1, 0, 0)`),
      )
      const released = async () =>
        (await context.db.all(sql`SELECT id FROM blobs WHERE released_at IS NOT NULL`)).length
      expect(await sweepFiles(context, { after: '' })).toMatchObject({ blobs: 0 })
      expect(await released()).toBe(1)
      expect(await codeOf(service.chat.ops.collectFiles())).toBe('unavailable')

      if (leaves === 'an empty folder') rmSync(folder, { recursive: true })
      renameSync(`${folder}-away`, folder)
      await lookAll(service)
      expect(Buffer.from(await (await read()).arrayBuffer()).equals(content)).toBe(true)
      expect((await put()).status).toBe(200)
      await send('after')
      expect(lines).toContain('The storage of files is there again')
      await service.chat.ops.collectFiles()
      expect((await service.chat.ops.fsckFiles({ read: true })).findings).toEqual([])
      expect(await released()).toBe(0)
    })
  }

  it('while a part is written gets no part that is counted', async () => {
    const service = await startWithFiles(await openUrl())
    const { folder } = service
    const all = await begin(service)
    const put = await beginUpload(all)
    renameSync(folder, `${folder}-away`)
    onTestFinished(() => rmSync(`${folder}-away`, { recursive: true, force: true }))
    // The first node to notice is the one that writes.
    await expectUnavailable(await put())
    expect(existsSync(folder)).toBe(false)
  })

  it('is another storage if it has the marker of one', async () => {
    const service = await startWithFiles(await openUrl())
    const { folder } = service
    const { read } = await begin(service)
    const marker = readFileSync(join(folder, MARKER), 'utf8')
    writeFileSync(join(folder, MARKER), JSON.stringify({ ...JSON.parse(marker), storage: 'another' }))
    await lookAll(service)
    await expectUnavailable(await read())
    writeFileSync(join(folder, MARKER), marker)
    await lookAll(service)
    expect((await read()).status).toBe(200)
  })
})

describeOnEachDatabase('a storage of files of an earlier version', (openUrl) => {
  it('is marked at the start, as soon as bytes of a file are there', async () => {
    const url = await openUrl()
    const first = await startWithFiles(url)
    const { folder } = first
    const { read } = await begin(first)
    const { db } = innerState(first)
    const unmark = async () => {
      rmSync(join(folder, MARKER))
      await db.run(sql`DELETE FROM meta WHERE name = 'storage'`)
    }
    // While the disk is away at the first start, it is not marked.
    await unmark()
    renameSync(folder, `${folder}-away`)
    await lookAll(first)
    await expectUnavailable(await read())
    expect(existsSync(folder)).toBe(false)
    renameSync(`${folder}-away`, folder)

    const second = await startService(url, { config: { attachments: { enabled: true, storage: `fs:${folder}` } } })
    onTestFinished(() => second.close())
    const marker = JSON.parse(readFileSync(join(folder, MARKER), 'utf8'))
    const row = await db.get<{ value: string }>(sql`SELECT value FROM meta WHERE name = 'storage'`)
    expect(marker).toEqual({ storage: row!.value, database: expect.any(String) })
    await lookAll(first)
    expect((await read()).status).toBe(200)
  })
})

describeOnEachDatabase('a copy of a database beside the same files', (openUrl) => {
  it('reads and writes there, and deletes nothing until it is made the owner', async () => {
    const service = await startWithFiles(await openUrl())
    const { ada, bytes, place, read, send } = await begin(service)
    const { ops } = service.chat
    const context = innerState(service)
    const gone = await upload(ada, bytes, place, { content: bytesOf(10, 'removed') })
    // As a restored backup, and as the first database sees it once the copy was made the owner.
    await context.db.run(sql`UPDATE meta SET value = 'of the copy' WHERE name = 'epoch'`)
    await lookAll(service)
    await ada.attachments.remove(gone)
    const released = async () => (await context.db.all(sql`SELECT id FROM blobs WHERE released_at IS NOT NULL`)).length
    expect(await sweepFiles(context, { after: '' })).toMatchObject({ blobs: 0, failed: 0 })
    expect(await released()).toBe(1)
    expect(await codeOf(ops.collectFiles())).toBe('conflict')
    await send('of the copy')
    expect((await read()).status).toBe(200)

    expect(await ops.adoptFiles()).toMatchObject({ was: 'shared' })
    await lookAll(service)
    expect(await ops.collectFiles()).toMatchObject({ blobs: 1 })
    expect(await released()).toBe(0)
    expect(await ops.adoptFiles()).toMatchObject({ was: 'own' })
    expect((await ops.fsckFiles({ read: true })).findings).toEqual([])
  })

  it('is not made the owner of a folder without its files', async () => {
    const service = await startWithFiles(await openUrl())
    await begin(service)
    const { folder } = service
    renameSync(folder, `${folder}-away`)
    mkdirSync(folder)
    await lookAll(service)
    expect(await codeOf(service.chat.ops.adoptFiles())).toBe('conflict')
    // Moved there without the marker.
    rmSync(folder, { recursive: true })
    renameSync(`${folder}-away`, folder)
    rmSync(join(folder, MARKER))
    await lookAll(service)
    expect(await service.chat.ops.adoptFiles()).toMatchObject({ was: 'missing' })
    expect(existsSync(join(folder, MARKER))).toBe(true)
  })
})

/** A bucket, and the place of files in it. */
async function openBucket() {
  const bucket = await startBucket()
  onTestFinished(() => bucket.close())
  const { endpoint, region } = bucket.options
  process.env.AWS_ACCESS_KEY_ID = bucket.options.access_key_id
  process.env.AWS_SECRET_ACCESS_KEY = bucket.options.secret_access_key
  onTestFinished(() => {
    delete process.env.AWS_ACCESS_KEY_ID
    delete process.env.AWS_SECRET_ACCESS_KEY
  })
  return { bucket, storage: `s3://chat/files?endpoint=${endpoint}&region=${region}` }
}

describeOnEachDatabase('a bucket of an earlier version', (openUrl) => {
  it('is marked at the start, and changes nothing for its users', async () => {
    const { bucket, storage } = await openBucket()
    const url = await openUrl()
    const config = { attachments: { enabled: true, storage } }
    const first = await begin(await startService(url, { config }))
    const { db } = innerState(first.service)
    await db.run(sql`DELETE FROM meta WHERE name = 'storage'`)
    const before = [...bucket.objects].filter(([key]) => !key.endsWith(MARKER))
    bucket.objects.delete(`files/${MARKER}`)

    const second = await startService(url, { config })
    onTestFinished(() => second.close())
    const row = await db.get<{ value: string }>(sql`SELECT value FROM meta WHERE name = 'storage'`)
    expect(JSON.parse(String(bucket.objects.get(`files/${MARKER}`)))).toMatchObject({ storage: row!.value })
    await lookAll(first.service)
    expect((await first.read()).status).toBe(200)
    await first.send('since')
    expect(await second.chat.ops.collectFiles({ now: true })).toMatchObject({ blobs: 0, garbage: 0 })
    for (const [key, value] of before) expect(bucket.objects.get(key)!.equals(value)).toBe(true)
  })

  it('beside which there are two databases serves both, and one of them deletes', async () => {
    const { bucket, storage } = await openBucket()
    const config = { attachments: { enabled: true, storage } }
    const stories = []
    for (const url of [await openUrl(), await openUrl()])
      stories.push(Object.assign(await begin(await startService(url, { config })), { url }))
    for (const { service, url } of stories) {
      const { db } = innerState(service)
      await db.run(sql`DELETE FROM meta WHERE name = 'storage'`)
      // Those of tests have one history: they are copies of one database.
      await db.run(sql`UPDATE meta SET value = ${url} WHERE name = 'epoch'`)
    }
    bucket.objects.delete(`files/${MARKER}`)

    const states = []
    for (const { service, url, read, send } of stories) {
      const next = await startService(url, { config })
      onTestFinished(() => next.close())
      await lookAll(service)
      states.push(await innerState(next).files.place.inspect())
      expect((await read()).status).toBe(200)
      await send('since')
    }
    expect(states).toEqual(['own', 'shared'])
    const [owner, other] = stories
    expect(await codeOf(other!.service.chat.ops.collectFiles({ now: true }))).toBe('conflict')
    // What the minutes of both delete is their own.
    for (const { service } of stories) await sweepFiles(innerState(service), { after: '' })
    for (const { read, content } of stories)
      expect(Buffer.from(await (await read()).arrayBuffer()).equals(content)).toBe(true)
    expect(innerState(owner!.service).files.place.isMissing()).toBe(false)
  })
})

describeOnEachDatabase('the probes and the metrics of a service', (openUrl) => {
  it('show that the storage of files is missing, and it stays ready', async () => {
    const service = await startWithFiles(await openUrl())
    await begin(service)
    const { folder } = service
    const look = async () => {
      await lookAll(service)
      const ready = await fetch(`${service.base_url}/readyz`)
      const page = await service.chat.ops.metrics(null)
      return [
        ready.status,
        (await ready.json()).checks.attachments,
        /^chat_storage_missing\{of="files"\} (\d)$/m.exec(page)?.[1],
      ]
    }
    expect(await look()).toEqual([200, 'ok', '0'])
    renameSync(folder, `${folder}-away`)
    expect(await look()).toEqual([200, 'missing', '1'])
    renameSync(`${folder}-away`, folder)
    expect(await look()).toEqual([200, 'ok', '0'])
  })
})

describeOnEachDatabase('a storage of files of the host, and a bucket', (openUrl) => {
  it('are marked with the first bytes, and missing without the marker', async () => {
    const files = memoryFiles()
    const service = await startService(await openUrl(), {
      config: { attachments: { enabled: true } },
      wrap: (storage) => ({ ...storage, files }),
    })
    const { read, send } = await begin(service)
    const kept = new Map(files.kept)
    expect([...kept.keys()]).toContain(MARKER)
    files.kept.clear()
    await expectUnavailable(await read())
    expect(await codeOf(send('x'))).toBe('unavailable')
    for (const [key, value] of kept) files.kept.set(key, value)
    await lookAll(service)
    expect((await read()).status).toBe(200)
  })

  it('of S3 are missing, and not merely failing, where the bucket has neither marker nor file', async () => {
    const { bucket, storage } = await openBucket()
    const service = await startService(await openUrl(), { config: { attachments: { enabled: true, storage } } })
    const { read, content } = await begin(service)
    const kept = new Map(bucket.objects)
    expect([...kept.keys()]).toContain(`files/${MARKER}`)
    bucket.trouble = () => 403
    await expect(lookAll(service)).rejects.toMatchObject({ code: 'unavailable' })
    expect(innerState(service).files.place.isMissing()).toBe(false)
    bucket.trouble = () => undefined
    bucket.objects.clear()
    await lookAll(service)
    await expectUnavailable(await read())
    for (const [key, value] of kept) bucket.objects.set(key, value)
    await lookAll(service)
    expect(Buffer.from(await (await read()).arrayBuffer()).equals(content)).toBe(true)
  })
})
