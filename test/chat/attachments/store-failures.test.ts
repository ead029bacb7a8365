import { beforeAll, expect, it } from 'vitest'
import { sweepFiles, sweepOrFail } from '../../../lib/chat/attachments/sweep.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { codeOf, innerState, type Person, startService, times } from '../../support/service.ts'
import { type Bytes, bytesFor, bytesOf, memoryFiles, PART, sizesOf, upload } from './files.ts'

describeOnEachDatabase('a storage of files of the host', (openUrl) => {
  const service = setUpService(async () =>
    startService(await openUrl(), {
      config: { attachments: { enabled: true } },
      wrap: (storage) => ({ ...storage, files }),
    }),
  )
  let ada: Person
  let bytes: Bytes
  let place: string
  const files = memoryFiles()
  beforeAll(async () => {
    ada = await service.signIn('ada')
    bytes = await bytesFor(service, ada)
    place = (await ada.conversations.create({ title: 'Files' })).conversation_id
  })

  it('that fails leaves no part, and the upload goes on later', async () => {
    const { attachment } = await ada.attachments.create(place, { name: 'a', size: 5 })
    const put = () => bytes.put(attachment.id, 1, Buffer.from('hello'))
    files.failing.put = new Error('unplugged')
    const failed = await put()
    expect([failed.status, failed.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)])
    files.failing.put = Object.assign(new Error('no room'), { code: 'ENOSPC' })
    expect((await put()).status).toBe(507)
    expect((await ada.attachments.get(attachment.id)).received).toEqual([])
    delete files.failing.put
    expect((await put()).status).toBe(200)
  })

  it('has a part before the upload counts it', async () => {
    const { attachment } = await ada.attachments.create(place, { name: 'a', size: 5 })
    const store = files.setItemRaw
    let counted: number[] | undefined
    files.setItemRaw = async (key, value) => {
      await store(key, value)
      // A process that died here would leave bytes without a part, and never a part without bytes.
      counted = (await ada.attachments.get(attachment.id)).received
    }
    await bytes.put(attachment.id, 1, Buffer.from('hello'))
    files.setItemRaw = store
    expect(counted).toEqual([])
  })

  it('may have bytes of a part that was lost before it was counted: any bytes replace them', async () => {
    const { attachment } = await ada.attachments.create(place, { name: 'a', size: 5 })
    const { db } = innerState(service)
    const row = await db.get<{ blob_id: string }>(sql`SELECT blob_id FROM attachments WHERE id = ${attachment.id}`)
    // The note of the part was not on the disk yet when the power failed.
    files.kept.set(`${row!.blob_id}/1`, Buffer.from('stale'))
    expect((await bytes.put(attachment.id, 1, Buffer.from('fresh'))).status).toBe(200)
    expect(await (await bytes.read(`/api/attachments/${attachment.id}/content`)).text()).toBe('fresh')
  })

  it('loses the part of an upload that is removed meanwhile', async () => {
    const { attachment } = await ada.attachments.create(place, { name: 'a', size: 5 })
    const store = files.setItemRaw
    let kept = ''
    files.setItemRaw = async (key, value) => {
      await ada.attachments.remove(attachment.id)
      await store(key, value)
      kept = key
    }
    expect((await bytes.put(attachment.id, 1, Buffer.from('hello'))).status).toBe(404)
    files.setItemRaw = store
    expect(files.kept.has(kept)).toBe(false)
  })

  it('is read one part ahead at most, and not at all for a header', async () => {
    const content = bytesOf(4 * PART)
    const id = await upload(ada, bytes, place, { content })
    const read: string[] = []
    const get = files.getItemRaw
    files.getItemRaw = (key) => {
      read.push(key)
      return get(key)
    }
    const actor = await service.chat.users.actor(ada.id)
    const { bytes: pieces, length } = await service.chat.attachments.open(actor, id)
    expect(length).toBe(content.length)
    const iterator = pieces[Symbol.asyncIterator]()
    expect(read).toEqual([])
    expect((await iterator.next()).value).toHaveLength(64 * 1024)
    expect(read.length).toBeLessThanOrEqual(2)
    await iterator.return?.()
    files.getItemRaw = get
  })

  it('that cannot delete some bytes deletes all others, and these later', async () => {
    const count = 14
    const created = await Promise.all(times(count, () => ada.attachments.create(place, { name: 'a', size: 5 })))
    const ids = created.map(({ attachment }) => attachment.id)
    await Promise.all(ids.map((id, n) => n > 0 && bytes.put(id, 1, Buffer.from(`bad-${n % 10}`))))
    const { db } = innerState(service)
    const rows = await db.all<{ id: string; blob_id: string }>(sql`SELECT id, blob_id FROM attachments`)
    const blobs = ids.map((id) => rows.find((row) => row.id === id)!.blob_id)
    await Promise.all(ids.map((id) => ada.attachments.remove(id)))
    const listReleased = () => db.all<{ id: string }>(sql`SELECT id FROM blobs WHERE released_at IS NOT NULL`)
    const left = async () => (await listReleased()).filter(({ id }) => blobs.includes(id)).length
    const remove = files.removeItem
    const refused = new Set(blobs.slice(2, 5))
    files.removeItem = (key) => (refused.has(key.split('/')[0]!) ? Promise.reject(new Error('read-only')) : remove(key))
    const sweep = { after: '' }
    const later = Number.MAX_SAFE_INTEGER
    const ctx = { ...innerState(service), now: () => later }
    expect(await sweepFiles(ctx, sweep)).toMatchObject({ failed: 3 })
    expect(await left()).toBe(3)
    await expect(sweepOrFail(ctx, sweep)).rejects.toThrow('The bytes of 3 files: ')

    // The whole storage is away: a sweep gives up after a few, and the next one goes on behind them.
    await db.write((tx) => tx.run(sql`UPDATE blobs SET released_at = 0 WHERE released_at IS NOT NULL`))
    const more = await Promise.all(times(10, () => ada.attachments.create(place, { name: 'a', size: 5 })))
    await Promise.all(more.map(({ attachment }) => ada.attachments.remove(attachment.id)))
    files.removeItem = () => Promise.reject(new Error('unplugged'))
    expect(await sweepFiles(ctx, sweep)).toMatchObject({ blobs: 0, failed: 10 })
    const all = (await listReleased()).length
    expect(await sweepFiles(ctx, sweep)).toMatchObject({ blobs: 0, failed: all - 10 })
    files.removeItem = remove
    expect(await sweepFiles(ctx, sweep)).toMatchObject({ blobs: all, failed: 0 })
    expect(await left()).toBe(0)
  })

  it('without the bytes of a file is a failure, not half an answer', async () => {
    const id = await upload(ada, bytes, place, { content: bytesOf(100, 'lost') })
    const blob = await innerState(service).db.get<{ blob_id: string }>(
      sql`SELECT blob_id FROM attachments WHERE id = ${id}`,
    )
    const read = async (range = {}) => (await bytes.read(`/api/attachments/${id}/content`, range)).status
    files.kept.set(`${blob!.blob_id}/1`, Buffer.alloc(99))
    expect([await read(), await read({ range: 'bytes=0-98' }), await read({ range: 'bytes=99-' })]).toEqual([
      404, 206, 404,
    ])
    files.kept.delete(`${blob!.blob_id}/1`)
    expect(await read()).toBe(404)
  })
})

const sameSizes = <T>(sizes: T) => ({ counted: sizes, kept: sizes })

describeOnEachDatabase('the limits of files', (openUrl) => {
  it('are kept: the size of all, of a user, and the types', async () => {
    const limits = { enabled: true, per_user_bytes: 100, total_bytes: 150, types: ['image/png'] }
    const service = await startService(await openUrl(), {
      config: { attachments: limits },
      wrap: (storage) => ({ ...storage, files: memoryFiles() }),
    })
    const [ada, grace] = [await service.signIn('ada'), await service.signIn('grace')]
    const { conversation_id: place } = await ada.conversations.create({ title: 'Files' })
    await ada.participants.add(place, { user_id: grace.id })
    const { attachment } = await ada.attachments.create(place, { name: 'a', size: 100 })
    expect(await codeOf(ada.attachments.create(place, { name: 'b', size: 1 }))).toBe('quota_exceeded')
    expect(await codeOf(grace.attachments.create(place, { name: 'b', size: 51 }))).toBe('storage_full')
    const bytes = await bytesFor(service, ada)
    expect((await bytes.put(attachment.id, 1, bytesOf(100))).status).toBe(415)
    expect(await service.client().capabilities.get()).toMatchObject({ attachments: { types: ['image/png'] } })
    await service.close()
  })

  it('hold for uploads that begin at once, and the size that is kept is that of all files', async () => {
    const service = await startService(await openUrl(), {
      config: { attachments: { enabled: true, total_bytes: 100, grace_hours: 0 } },
      wrap: (storage) => ({ ...storage, files: memoryFiles() }),
    })
    const people = [
      await service.signIn('ada'),
      await service.signIn('grace'),
      await service.signIn('eve'),
      await service.signIn('tom'),
    ]
    const places = await Promise.all(people.map((each) => each.conversations.create({ title: 'Files' })))
    const begin = (n: number) => people[n]!.attachments.create(places[n]!.conversation_id, { name: 'a', size: 30 })
    const outcomes = await Promise.allSettled([0, 1, 2, 3, 0, 1, 2, 3].map(begin))
    const begun = outcomes.flatMap((each, n) =>
      each.status === 'fulfilled' ? [{ person: people[n % 4]!, id: each.value.attachment.id }] : [],
    )
    expect(begun).toHaveLength(3)
    expect(await sizesOf(service)).toEqual(sameSizes({ bytes: 90, released_bytes: 0 }))
    const sweep = () => sweepFiles(innerState(service), { after: '' })
    await Promise.all([...begun.map(({ person, id }) => person.attachments.remove(id)), sweep(), sweep(), sweep()])
    await Promise.all(times(3, sweep))
    expect(await sizesOf(service)).toEqual(sameSizes({ bytes: 0, released_bytes: 0 }))
    const { rows } = (await innerState(service).db.get<{ rows: number }>(sql`SELECT count(*) AS rows FROM blob_sizes`))!
    expect(Number(rows)).toBeLessThanOrEqual(1)
    await begin(0)
    await service.close()
  })

  it('are not needed where there are no files: their routes do not exist, and nothing is opened', async () => {
    const files = new Proxy(memoryFiles(), {
      get() {
        throw new Error('opened')
      },
    })
    const service = await startService(await openUrl(), { wrap: (storage) => ({ ...storage, files }) })
    const ada = await service.signIn('ada')
    const { conversation_id: place } = await ada.conversations.create({ title: 'Files' })
    expect(await codeOf(ada.attachments.create(place, { name: 'a', size: 1 }))).toBe('not_found')
    const input = { content: 'x', attachment_ids: [innerState(service).id()] }
    expect(await codeOf(ada.messages.postRoot(place, input))).toBe('not_found')
    expect(await service.client().capabilities.get()).not.toHaveProperty('attachments')
    await service.close()
  })
})
