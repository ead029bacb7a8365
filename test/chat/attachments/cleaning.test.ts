import { beforeAll, beforeEach, expect, it } from 'vitest'
import { sweepFiles } from '../../../lib/chat/attachments/sweep.ts'
import { statement } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { exif, JPEG, bytesOf as joined, segment } from '../../support/pictures.ts'
import { innerState, type Person, startService, times } from '../../support/service.ts'
import { type Bytes, bytesFor, bytesOf, memoryFiles, PART, sizesOf, upload } from './files.ts'

const SECRET = 'GPS 47.3769 N 8.5417 E'
const metadata = segment(0xe1, exif('II', 1, SECRET))
/** Color profiles of more than a part together, which stay. */
const profiles = joined(...Array.from({ length: 80 }, () => segment(0xe2, joined('ICC_PROFILE\0', bytesOf(60_000)))))
/** What cameras append: another picture with its own metadata, or a film. */
const appended = joined(JPEG.start, metadata, JPEG.picture, JPEG.end, 'ftypmp42', SECRET)

const LARGE: Record<string, Buffer> = {
  'behind large segments': joined(JPEG.start, JPEG.jfif, profiles, metadata, JPEG.picture, JPEG.end),
  'behind the picture': joined(JPEG.start, JPEG.jfif, profiles, JPEG.picture, JPEG.end, appended),
}

/** A part, and the parts of it that begin at these bytes. */
const partsOf = (content: Buffer) =>
  Array.from({ length: Math.ceil(content.length / PART) }, (_, n) => content.subarray(n * PART, (n + 1) * PART))

describeOnEachDatabase('a JPEG of several parts', (openUrl) => {
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
    place = (await ada.conversations.create({})).conversation_id
  })
  beforeEach(() => {
    delete files.failing.put
  })

  const contentOf = async (id: string) =>
    Buffer.from(await (await bytes.read(`/api/attachments/${id}/content`)).arrayBuffer())
  const hasSecret = () => [...files.kept.values()].some((value) => Buffer.from(value).includes(SECRET))
  /** Deletes what is left, as after a day. */
  const sweep = async () => {
    const ctx = innerState(service)
    return sweepFiles(
      { ...ctx, config: { ...ctx.config, attachments: { ...ctx.config.attachments, grace_hours: 0 } } },
      {
        after: '',
      },
    )
  }
  const begin = async (content: Buffer) =>
    (await ada.attachments.create(place, { name: 'a.jpg', size: content.length })).attachment.id

  it.each(Object.entries(LARGE))('loses the metadata %s, in whatever order its parts arrive', async (_, content) => {
    const id = await begin(content)
    const answers = await Promise.all(
      partsOf(content)
        .map((part, n) => bytes.put(id, n + 1, part))
        .reverse(),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 204])
    const read = await contentOf(id)
    expect(read.length).toBe(content.length)
    expect(read.includes('GPS')).toBe(false)
    expect(read.includes(profiles)).toBe(true)
    expect(read.includes(joined(JPEG.picture, JPEG.end))).toBe(true)

    // The same parts are the same upload, others are not.
    const [first, second] = partsOf(content)
    expect((await bytes.put(id, 2, second!)).status).toBe(204)
    expect((await bytes.put(id, 2, Buffer.alloc(second!.length))).status).toBe(409)
    expect((await bytes.put(id, 1, first!)).status).toBe(204)
    await sweep()
    expect(hasSecret()).toBe(false)
    expect((await service.chat.ops.fsckFiles({ read: true })).findings).toEqual([])
    const { counted, kept } = await sizesOf(service)
    expect(kept).toEqual(counted)
  })

  it('has the bytes that are there already, once it has lost its metadata', async () => {
    const content = LARGE['behind the picture']!
    const ids = [await upload(ada, bytes, place, { content }), await upload(ada, bytes, place, { content })]
    const other = joined(JPEG.start, JPEG.jfif, profiles, JPEG.picture, JPEG.end, Buffer.alloc(appended.length))
    ids.push(await upload(ada, bytes, place, { content: other }))
    await sweep()
    const stored = await innerState(service).db.all<{ blob_id: string }>(
      statement(`SELECT DISTINCT blob_id FROM attachments WHERE id IN ('${ids.join("', '")}')`),
    )
    expect(stored).toHaveLength(1)
    expect((await service.chat.ops.fsckFiles({ read: true })).findings).toEqual([])
  })

  it('is not written again without metadata', async () => {
    const before = files.kept.size
    await upload(ada, bytes, place, {
      content: joined(JPEG.start, JPEG.jfif, profiles, JPEG.picture, JPEG.end, [0, 1]),
    })
    // The two bytes behind the picture are blanked, so it is: with none it is not.
    const content = joined(JPEG.start, profiles, JPEG.picture, JPEG.end)
    await upload(ada, bytes, place, { content })
    expect(files.kept.size).toBe(before + 4 + 2)
  })

  it('is completed by a part that is sent again, if its storage failed or a sweep came between', async () => {
    const content = joined(LARGE['behind the picture']!, 'another')
    const id = await begin(content)
    const [first, second] = partsOf(content)
    await bytes.put(id, 2, second!)
    const put = files.setItemRaw
    // The first part itself is stored.
    let stored = 0
    files.setItemRaw = async (key, value) => {
      await put(key, value)
      if (++stored === 2) throw Object.assign(new Error('no room'), { code: 'ENOSPC' })
    }
    expect((await bytes.put(id, 1, first!)).status).toBe(507)
    expect((await ada.attachments.get(id)).received).toEqual([1, 2])
    files.setItemRaw = async (key, value) => {
      await put(key, value)
      await sweep()
    }
    expect((await bytes.put(id, 1, first!)).status).toBe(503)
    files.setItemRaw = put
    const answers = await Promise.all([bytes.put(id, 1, first!), bytes.put(id, 2, second!)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 204])
    await sweep()
    expect((await contentOf(id)).includes('GPS')).toBe(false)
    expect(hasSecret()).toBe(false)
    expect((await service.chat.ops.fsckFiles({ read: true })).findings).toEqual([])
  })

  it('leaves nothing when its upload is removed meanwhile', async () => {
    const content = joined(LARGE['behind the picture']!, 'a fourth')
    const id = await begin(content)
    const [first, second] = partsOf(content)
    await bytes.put(id, 2, second!)
    const before = files.kept.size
    const put = files.setItemRaw
    let stored = 0
    files.setItemRaw = async (key, value) => {
      if (++stored === 2) await ada.attachments.remove(id)
      await put(key, value)
    }
    expect((await bytes.put(id, 1, first!)).status).toBe(404)
    files.setItemRaw = put
    expect(files.kept.size).toBe(before + 3)
    await sweepFiles(innerState(service), { after: '' })
    expect(files.kept.size).toBe(before - 1)
  })

  it('is one of three that are looked at at once: each is in memory', async () => {
    const { getItemRaw } = files
    let [reading, most] = [0, 0]
    files.getItemRaw = async (key) => {
      most = Math.max(most, ++reading)
      await new Promise((resolve) => setImmediate(resolve))
      reading--
      return getItemRaw(key)
    }
    const contents = times(8, (n) => joined(LARGE['behind the picture']!, `of ${n}`))
    await Promise.all(contents.map((content) => upload(ada, bytes, place, { content })))
    files.getItemRaw = getItemRaw
    expect(most).toBeLessThanOrEqual(3 * service.nodes.length)
  })

  it('keeps no part that is written a second time once it is complete', async () => {
    const content = joined(LARGE['behind the picture']!, 'a third')
    const id = await begin(content)
    const [first, second] = partsOf(content)
    await bytes.put(id, 2, second!)
    const put = files.setItemRaw
    let isSecond = false
    files.setItemRaw = async (key, value) => {
      if (!isSecond) {
        isSecond = true
        expect((await bytes.put(id, 1, first!)).status).toBe(200)
        await sweep()
      }
      await put(key, value)
    }
    expect((await bytes.put(id, 1, first!)).status).toBe(204)
    files.setItemRaw = put
    expect((await service.chat.ops.fsckFiles({ read: true })).findings).toEqual([])
  })
})
