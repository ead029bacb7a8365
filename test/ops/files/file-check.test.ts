import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { newId } from '../../../lib/core/ids.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, type Person, startService, type TestService } from '../../support/service.ts'

const PART = 4 * 1024 * 1024

describeOnEachDatabase('the storage of files', (openUrl) => {
  let service: TestService
  let ada: Person
  let place: string
  let folder: string
  let clock = Date.now() * 1000

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'chat-ops-files-'))
    service = await startService(await openUrl(), {
      ports: { now: () => clock },
      config: {
        attachments: { enabled: true, storage: `fs:${folder}` },
        session: { idle_seconds: 30_000_000, absolute_seconds: 30_000_000 },
      },
    })
    ada = await service.signIn('ada')
    place = (await ada.conversations.create({ title: 'Files' })).conversation_id
  })
  afterAll(async () => {
    await service.close()
    rmSync(folder, { recursive: true })
  })

  const fileOf = (size: number, seed: number) => new File([Buffer.alloc(size, `file ${seed} `)], `file-${seed}.bin`)
  const check = async (options = {}) => {
    const { findings } = await service.chat.ops.fsckFiles(options)
    return findings.map(({ name, count, examples }) => [name, count, ...examples])
  }
  const blobOf = async (id: string) => {
    const row = await innerState(service).db.get<{ blob_id: string }>(
      sql`SELECT blob_id FROM attachments WHERE id = ${id}`,
    )
    return join(folder, row!.blob_id)
  }

  it('has the bytes of every file, and of the uploads under way', async () => {
    const { id } = await ada.upload(place, fileOf(PART + 10, 1))
    await ada.messages.postRoot(place, { content: '', attachment_ids: [id] })
    await ada.attachments.create(place, { name: 'later.bin', size: 10 })
    const abort = new AbortController()
    const broken = ada.upload(place, fileOf(9 * PART, 2), {
      signal: abort.signal,
      onProgress: ({ sent }) => sent > 0 && abort.abort(),
    })
    await expect(broken).rejects.toThrow()
    const steps: number[][] = []
    const onProgress = (...step: number[]) => void steps.push(step)
    const checked = await service.chat.ops.fsckFiles({ read: true, onProgress })
    expect(checked).toEqual({ files: 1, bytes: PART + 10, missing: 0, recovered: 0, findings: [] })
    expect(steps).toEqual([[1, PART + 10]])
    expect(await service.chat.ops.fileTotals()).toMatchObject({
      attachments: 3,
      uploading: 2,
      ready: 1,
      unattached: 2,
      blobs: 3,
      released: 0,
    })
  })

  it('is found to lack bytes, to have others, and more', async () => {
    const [gone, cut, other] = [
      await ada.upload(place, fileOf(PART + 10, 3)),
      await ada.upload(place, fileOf(20, 4)),
      await ada.upload(place, fileOf(30, 5)),
    ]
    const { message_id } = await ada.messages.postRoot(place, { content: '', attachment_ids: [gone.id, other.id] })
    rmSync(join(await blobOf(gone.id), '1'))
    truncateSync(join(await blobOf(cut.id), '1'), 10)
    writeFileSync(join(await blobOf(other.id), '1'), Buffer.alloc(30))
    const garbage = `${newId()}/1`
    mkdirSync(join(folder, garbage.split('/')[0]!))
    writeFileSync(join(folder, garbage), 'garbage')
    writeFileSync(join(await blobOf(other.id), '2'), 'more')
    const more = `${(await blobOf(other.id)).slice(folder.length + 1)}/2`

    const ofGarbage = ['file-garbage', 2, ...[garbage, more].sort()]
    const sorted = async (options = {}) =>
      (await check(options)).map(([name, count, ...ids]) => [name, count, ...ids.sort()])
    expect(await sorted()).toEqual([['file-bytes', 1, gone.id], ['file-digests', 1, cut.id], ofGarbage])
    const read = [['file-bytes', 1, gone.id], ['file-digests', 2, ...[cut.id, other.id].sort()], ofGarbage]
    expect(await sorted({ read: true })).toEqual(read)

    expect(await sorted({ read: true, repair: true, accept_loss: 3 })).toEqual(read)
    expect(await sorted({ read: true })).toEqual([ofGarbage])
    await service.chat.ops.collectFiles()
    expect(await check({ read: true })).toEqual([])
    const { attachments } = await ada.messages.get(message_id)
    expect(attachments!.map(({ id, status }) => [id, status])).toEqual([
      [gone.id, 'gone'],
      [other.id, 'gone'],
    ])
    expect((await ada.attachments.get(gone.id)).attachment.status).toBe('gone')
    // The same bytes are stored again.
    expect((await ada.upload(place, fileOf(30, 5))).status).toBe('ready')
    expect(await check({ read: true })).toEqual([])
  })

  it('is emptied of what nothing refers to, once its time is over', async () => {
    const { id } = await ada.upload(place, fileOf(40, 6))
    const path = await blobOf(id)
    const { message_id } = await ada.messages.postRoot(place, { content: 'a', attachment_ids: [id] })
    await ada.messages.edit(message_id, { content: 'a', attachment_ids: [] })
    const garbage = join(folder, newId())
    mkdirSync(garbage)
    writeFileSync(join(garbage, '1'), 'garbage')
    writeFileSync(join(garbage, '.2.x.partial'), 'half')
    utimesSync(join(garbage, '.2.x.partial'), 1, 1)
    const before = await service.chat.ops.collectFiles({ dry_run: true })
    expect(before).toMatchObject({ garbage: 1, unfinished: 1 })
    expect(readdirSync(garbage).sort()).toEqual(['.2.x.partial', '1'])
    expect(await service.chat.ops.collectFiles()).toMatchObject({ garbage: 1, unfinished: 1 })
    expect(readdirSync(folder)).not.toContain(garbage.slice(folder.length + 1))
    expect(readFileSync(join(path, '1')).length).toBe(40)
    clock += 25 * 3_600_000_000
    const due = await service.chat.ops.collectFiles({ dry_run: true })
    expect(due.blobs).toBeGreaterThanOrEqual(1)
    const collected = await service.chat.ops.collectFiles()
    expect(collected.expired).toBe(due.expired)
    expect(collected.bytes).toBeGreaterThanOrEqual(40)
    expect(readdirSync(folder)).not.toContain(path.slice(folder.length + 1))
    expect(await service.chat.ops.collectFiles()).toEqual({
      expired: 0,
      blobs: 0,
      garbage: 0,
      unfinished: 0,
      failed: 0,
      bytes: 0,
    })
    expect(await check({ read: true })).toEqual([])
  })
})
