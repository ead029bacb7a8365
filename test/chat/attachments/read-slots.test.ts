import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { createReadSlots } from '../../../lib/chat/attachments/read-slots.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { bytesOf as joined } from '../../support/pictures.ts'
import { codeOf, innerState, times } from '../../support/service.ts'
import { bytesFor, bytesOf, PART, PNG, startWithFiles, upload } from './files.ts'

describeOnEachDatabase('slow downloads', (openUrl) => {
  it('of a user are limited, by links, too, and others can still read', async () => {
    const service = await startWithFiles(await openUrl(), { config: { attachments: { max_reads_per_user: 2 } } })
    onTestFinished(() => service.close())
    const [ada, grace] = [await service.signIn('ada'), await service.signIn('grace')]
    const [ofAda, ofGrace] = [await bytesFor(service, ada), await bytesFor(service, grace)]
    const { conversation_id } = await ada.conversations.create({ title: 'Files' })
    await ada.participants.add(conversation_id, { user_id: grace.id })
    // More than the buffers of two sockets.
    const id = await upload(ada, ofAda, conversation_id, { content: bytesOf(5 * PART) })
    await ada.messages.postRoot(conversation_id, { content: '', attachment_ids: [id] })
    const small = await upload(ada, ofAda, conversation_id, { content: bytesOf(10) })
    const { url } = await ada.attachments.link(id)
    const other = (await ada.attachments.link(id)).url

    const slow = [url, other].map((linked) => {
      const socket = connect(Number(new URL(service.base_url).port), '127.0.0.1')
      socket.write(`GET ${linked} HTTP/1.1\r\nhost: x\r\n\r\n`)
      return socket
    })
    // It reads the first bytes, and no further ones.
    await Promise.all(slow.map((socket) => once(socket, 'readable')))
    // Others read meanwhile: places are of a user.
    const path = `/api/attachments/${id}/content`
    const read = await ofGrace.read(path)
    expect((await read.arrayBuffer()).byteLength).toBe(5 * PART)
    // A third one of the user waits, until the slow ones lose their places.
    let isRead = false
    const third = ofAda.read(`/api/attachments/${small}/content`).then((response) => {
      isRead = true
      return response
    })
    const checked = () => {
      for (const node of service.nodes) innerState(node).files.readSlots.check()
      return isRead
    }
    await expect.poll(checked).toBe(true)
    expect((await third).status).toBe(200)
    if (service.nodes.length === 1) await Promise.all(slow.map((socket) => once(socket.resume(), 'close')))
    // None of them counts any more: each download ends its own place.
    for (let n = 0; n < 3; n++) expect((await (await ofAda.read(path)).arrayBuffer()).byteLength).toBe(5 * PART)
    for (let n = 0; n < 3; n++) expect((await ofAda.read(path, {}, 'HEAD')).status).toBe(200)
  })

  it('of many users take no more memory together than the process has for files', async () => {
    const config = { attachments: { max_buffered_bytes: PART } }
    const service = await startWithFiles(await openUrl(), { config })
    onTestFinished(() => service.close())
    const ada = await service.signIn('ada')
    const people = [ada, ...(await Promise.all(times(3, (n) => service.signIn(`reader${n}`))))]
    const { conversation_id } = await ada.conversations.create({ title: 'Files' })
    for (const { id } of people.slice(1)) await ada.participants.add(conversation_id, { user_id: id })
    const id = await upload(ada, await bytesFor(service, ada), conversation_id, { content: bytesOf(9 * PART) })
    await ada.messages.postRoot(conversation_id, { content: '', attachment_ids: [id] })
    const { chat } = service
    const readers = await Promise.all(
      people.flatMap((person) =>
        times(8, async () => {
          const { bytes } = await chat.attachments.open(await chat.users.actor(person.id), id)
          return bytes[Symbol.asyncIterator]()
        }),
      ),
    )
    // Each has taken what follows the first piece, and takes no more.
    for (const reader of readers) for (let n = 0; n < 3; n++) await reader.next()
    const held = innerState(chat).files.pieceMemory.bytes()
    expect(held).toBeLessThanOrEqual(PART + readers.length * 2 * 64 * 1024)
    expect(held).toBeGreaterThan(PART / 2)
    await Promise.all(readers.map((reader) => reader.return?.()))
    expect(innerState(chat).files.pieceMemory.bytes()).toBe(0)
  })

  it('of thumbnails are limited, and do not count as those of files', async () => {
    const service = await startWithFiles(await openUrl(), {
      config: { attachments: { max_reads_per_user: 1 } },
      ports: {
        thumbnail: () => ({ bytes: joined(PNG, bytesOf(PART - PNG.length)), type: 'image/png', width: 3, height: 2 }),
      },
    })
    onTestFinished(() => service.close())
    const ada = await service.signIn('ada')
    const bytes = await bytesFor(service, ada)
    const { conversation_id } = await ada.conversations.create({})
    const id = await upload(ada, bytes, conversation_id, { content: PNG })
    await service.idle()
    const actor = await service.chat.users.actor(ada.id)
    const open = () => service.chat.attachments.openThumbnail(actor, id)
    const slow = (await open()).bytes[Symbol.asyncIterator]()
    await slow.next()
    // A further one waits, and ends the slow one.
    const next = (await open()).bytes[Symbol.asyncIterator]()
    const waiting = next.next()
    const { thumbnailSlots } = innerState(service).files
    thumbnailSlots.check()
    expect((await waiting).value).toHaveLength(64 * 1024)
    await expect(slow.next()).rejects.toThrow('while others waited')
    await next.return?.()
    const path = `/api/attachments/${id}`
    expect((await bytes.read(`${path}/content`)).status).toBe(200)
    const whole = await bytes.read(`${path}/thumbnail`)
    expect((await whole.arrayBuffer()).byteLength).toBe(PART)
  })
})

it('a download counts from its first byte until it is read, fails, or is left; others wait for it', async () => {
  const slots = createReadSlots(() => 1, { waiting_per_user: 1 })
  async function* bytes(fails = false) {
    yield Buffer.from('a')
    if (fails) throw new Error('unplugged')
    yield Buffer.from('b')
  }
  const hold = (fails?: boolean) => slots.hold('ada', bytes(fails)).bytes
  // Never begun: it takes no place.
  hold()
  const [first, second, third] = [hold(), hold(), hold()]
  await first.next()
  const waiting = second.next()
  expect(await codeOf(third.next())).toBe('rate_limited')
  expect(() => slots.assertRoom('ada')).toThrow('You are reading 1 files')
  slots.assertRoom('grace')
  await first.return(undefined)
  expect((await waiting).value?.toString()).toBe('a')
  await second.return(undefined)
  const failing = hold(true)
  await failing.next()
  await expect(failing.next()).rejects.toThrow('unplugged')
  for await (const piece of hold()) expect(piece).toHaveLength(1)
  slots.assertRoom('ada')
})

it('a download that waits too long for a place is refused', async () => {
  const slots = createReadSlots(() => 1, { wait_seconds: 0 })
  async function* bytes() {
    yield Buffer.from('a')
    yield Buffer.from('b')
  }
  const first = slots.hold('ada', bytes()).bytes
  await first.next()
  expect(await codeOf(slots.hold('ada', bytes()).bytes.next())).toBe('rate_limited')
  await first.return(undefined)
})
