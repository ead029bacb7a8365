import { renameSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import type { FileToCheck, ScanVerdict, Thumbnail } from '../../../lib/ports.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { codeOf, innerState, type Person, type TestService } from '../../support/service.ts'
import { withResolvers } from '../../support/with-resolvers.ts'
import { type Bytes, bytesFor, bytesOf, PART, PNG, startWithFiles, upload } from './files.ts'

describeOnEachDatabase('files that the host checks', (openUrl) => {
  let service: TestService & { folder: string }
  let ada: Person
  let grace: Person
  let bytes: Bytes
  let place: string
  let scan: (file: FileToCheck) => ScanVerdict | Promise<ScanVerdict>
  let thumbnail: (file: FileToCheck) => Thumbnail | undefined | Promise<Thumbnail>
  beforeAll(async () => {
    service = await startWithFiles(await openUrl(), {
      config: { attachments: { scan: 'after', thumbnail_pixels: 100 } },
      ports: { scan: (file) => scan(file), thumbnail: (file) => thumbnail(file) },
    })
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    bytes = await bytesFor(service, ada)
    place = (await ada.conversations.create({ title: 'Files' })).conversation_id
    await ada.participants.add(place, { user_id: grace.id })
  })
  beforeEach(() => {
    scan = () => ({ verdict: 'clean' })
    thumbnail = () => undefined
  })
  afterAll(() => service.close())

  const settle = () => innerState(service).tasks.settle()
  const get = async (id: string) => (await ada.attachments.get(id)).attachment
  const read = (id: string, what = 'content') => bytes.read(`/api/attachments/${id}/${what}`)

  it('are read by the scanner as a whole, and can be read once they are clean, with an event', async () => {
    const content = bytesOf(PART + 10)
    let seen = 0
    let release = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    scan = async (file) => {
      await held
      for await (const piece of file.open()) seen += piece.length
      return { verdict: 'clean' }
    }
    const id = await upload(ada, bytes, place, { content })
    const { stream_position } = await ada.conversations.get(place)
    const { message, message_id } = await ada.messages.postRoot(place, { content: '', attachment_ids: [id] })
    expect(message.attachments![0]!.status).toBe('scanning')
    expect(await (await read(id)).json()).toMatchObject({ code: 'attachment_not_ready' })
    release()
    for await (const { event } of grace.events.follow(place, { last_event_id: stream_position! }))
      if (event.type === 'attachment.changed') {
        expect(event.payload).toMatchObject({ message_id, attachment: { id, status: 'ready', uploaded_by: ada.id } })
        break
      }
    expect(seen).toBe(content.length)
    expect((await read(id)).status).toBe(200)
    expect((await grace.messages.get(message_id)).attachments![0]!.status).toBe('ready')
  })

  it('lose their bytes when they are refused; the reason is for their uploader and moderators', async () => {
    let release = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    scan = async () => {
      await held
      return { verdict: 'refused', reason: 'Eicar' }
    }
    const id = await upload(grace, await bytesFor(service, grace), place, { content: bytesOf(20, 'bad') })
    const { message_id } = await grace.messages.postRoot(place, { content: 'x', attachment_ids: [id] })
    release()
    await settle()
    const { attachments } = await grace.messages.get(message_id)
    expect(attachments![0]).toMatchObject({ status: 'refused' })
    expect(attachments![0]).not.toHaveProperty('reason')
    expect(await get(id)).toMatchObject({ reason: 'Eicar', size: 20 })
    expect(await (await read(id)).json()).toMatchObject({ code: 'attachment_refused' })
    const other = await upload(ada, bytes, place, { content: bytesOf(20, 'bad as well') })
    await settle()
    expect(await codeOf(ada.messages.postRoot(place, { content: 'x', attachment_ids: [other] }))).toBe(
      'attachment_refused',
    )
  })

  it('are counted in the metrics', async () => {
    await ada.attachments.create(place, { name: 'later', size: 7 })
    const page = await service.client().ops.metrics()
    expect(page.match(/^chat_attachments_\w+ \d+$/gm)).toEqual([
      // Of the first file, and of the upload under way; the refused ones are to be deleted.
      `chat_attachments_bytes ${PART + 10 + 7}`,
      'chat_attachments_uploading 1',
      'chat_attachments_refused_total 2',
    ])
  })

  it('are refused if the scanner fails three times, and not before', async () => {
    let calls = 0
    scan = () => {
      calls++
      throw new Error('no scanner')
    }
    const id = await upload(ada, bytes, place, { content: bytesOf(20, 'unlucky') })
    await settle()
    expect(calls).toBe(3)
    expect(await get(id)).toMatchObject({ status: 'refused', reason: 'It could not be checked.' })
  })

  it('are not refused because the storage of files is missing, however often they are checked', async () => {
    const uploaded = withResolvers()
    const often = withResolvers()
    const scanned: string[] = []
    const { place: filesPlace } = innerState(service).files
    const { assertThere } = filesPlace
    let tries = 0
    filesPlace.assertThere = () => {
      if (++tries === 6) often.resolve()
      assertThere()
    }
    onTestFinished(() => {
      filesPlace.assertThere = assertThere
    })
    scan = async (file) => {
      await uploaded.promise
      try {
        for await (const piece of file.open()) scanned.push(`${piece.length} bytes`)
      } catch {
        scanned.push('unreadable')
        // As scanners do with what they cannot read.
        return { verdict: 'refused' }
      }
      return { verdict: 'clean' }
    }
    const id = await upload(ada, bytes, place, { content: bytesOf(20, 'on a disk that is not mounted') })
    renameSync(service.folder, `${service.folder}-away`)
    uploaded.resolve()
    const settled = settle()
    await often.promise
    expect(await get(id)).toMatchObject({ status: 'scanning' })
    renameSync(`${service.folder}-away`, service.folder)
    await filesPlace.inspect()
    await settled
    expect([scanned[0], scanned.at(-1), (await get(id)).status]).toEqual(['unreadable', '20 bytes', 'ready'])
  })

  it('have a thumbnail if the host makes one: a small picture of its type', async () => {
    thumbnail = () => ({ bytes: PNG, type: 'image/png', width: 3, height: 2 })
    const id = await upload(ada, bytes, place, { content: PNG })
    await settle()
    expect(await get(id)).toMatchObject({ status: 'ready', thumbnail: true })
    const picture = await read(id, 'thumbnail')
    expect(picture.headers.get('content-type')).toBe('image/png')
    expect(Buffer.from(await picture.arrayBuffer()).equals(PNG)).toBe(true)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('leave no bytes behind if they are removed while the host makes a thumbnail', async () => {
    thumbnail = async ({ attachment }) => {
      await ada.attachments.remove(attachment.id)
      return { bytes: PNG, type: 'image/png', width: 3, height: 2 }
    }
    const id = await upload(ada, bytes, place, { content: Buffer.concat([PNG, Buffer.from('removed')]) })
    await settle()
    expect(await codeOf(get(id))).toBe('not_found')
    expect((await service.chat.ops.fsckFiles()).findings).toEqual([])
  })

  it('have none if it is no picture, is too large, or the picture has too many pixels', async () => {
    const refused: Thumbnail[] = [
      { bytes: Buffer.from('<html>'), type: 'image/png', width: 3, height: 2 },
      { bytes: PNG, type: 'image/webp', width: 3, height: 2 },
      { bytes: PNG, type: 'image/png', width: 513, height: 2 },
    ]
    for (const [n, made] of refused.entries()) {
      thumbnail = () => made
      const id = await upload(ada, bytes, place, { content: Buffer.concat([PNG, Buffer.from([n])]) })
      await settle()
      expect(await get(id)).not.toHaveProperty('thumbnail')
    }
    let asked = 0
    thumbnail = () => void asked++ as undefined
    const bomb = Buffer.from(PNG)
    bomb.writeUInt32BE(100_000, 16)
    const id = await upload(ada, bytes, place, { content: bomb })
    await settle()
    expect(asked).toBe(0)
    expect(await get(id)).toMatchObject({ width: 100_000, status: 'ready' })
    expect((await read(id, 'thumbnail')).status).toBe(404)
  })

  it('get no thumbnail if a frame of a GIF has more pixels than its screen, and than one may have', async () => {
    const asked: string[] = []
    thumbnail = ({ attachment }) => {
      asked.push(attachment.name)
      return undefined
    }
    const gif = (name: string, side: number) =>
      upload(ada, bytes, place, {
        name,
        content: Buffer.from(
          `GIF89a\x02\0\x02\0\0\0\0,\0\0\0\0${String.fromCharCode(side)}\0\x0A\0\0\x02\x01x\0;`,
          'latin1',
        ),
      })
    await gif('large.gif', 11)
    const id = await gif('small.gif', 10)
    await settle()
    expect(asked).toEqual(['small.gif'])
    expect(await get(id)).toMatchObject({ type: 'image/gif', width: 2, height: 2 })
  })
})
