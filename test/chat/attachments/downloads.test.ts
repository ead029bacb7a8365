import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { createReadSlots } from '../../../lib/chat/attachments/read-slots.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { bytesOf as joined } from '../../support/pictures.ts'
import { codeOf } from '../../support/service.ts'
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

    const slow = [url, other].map((path) => {
      const socket = connect(Number(new URL(service.base_url).port), '127.0.0.1')
      socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`)
      return socket
    })
    // It reads the first bytes, and no further ones.
    await Promise.all(slow.map((socket) => once(socket, 'readable')))
    const path = `/api/attachments/${id}/content`
    const refused = await ofAda.read(path)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5'])
    expect(await refused.json()).toMatchObject({ code: 'rate_limited' })
    expect((await ofAda.read(`/api/attachments/${small}/content`)).status).toBe(429)
    expect((await fetch(service.base_url + url)).status).toBe(429)
    const read = await ofGrace.read(path)
    expect((await read.arrayBuffer()).byteLength).toBe(5 * PART)

    slow[0]!.destroy()
    await expect.poll(async () => (await ofAda.read(`/api/attachments/${small}/content`)).status).toBe(200)
    slow[1]!.destroy()
    // None of them counts any more: each download ends its own place.
    for (let n = 0; n < 3; n++) expect((await (await ofAda.read(path)).arrayBuffer()).byteLength).toBe(5 * PART)
    for (let n = 0; n < 3; n++) expect((await ofAda.read(path, {}, 'HEAD')).status).toBe(200)
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
    expect(await codeOf(open())).toBe('rate_limited')
    const path = `/api/attachments/${id}`
    if (service.nodes.length === 1) expect((await bytes.read(`${path}/thumbnail`)).status).toBe(429)
    expect((await bytes.read(`${path}/content`)).status).toBe(200)
    await slow.return?.()
    const whole = await bytes.read(`${path}/thumbnail`)
    expect((await whole.arrayBuffer()).byteLength).toBe(PART)
  })
})

it('a download counts from its first byte until it is read, fails, or is left', async () => {
  const slots = createReadSlots(() => 1)
  async function* bytes(fails = false) {
    yield Buffer.from('a')
    if (fails) throw new Error('unplugged')
    yield Buffer.from('b')
  }
  // Never begun: it takes no place.
  slots.hold('ada', bytes())
  const [first, second] = [slots.hold('ada', bytes()), slots.hold('ada', bytes())]
  await first.next()
  expect(await codeOf(second.next())).toBe('rate_limited')
  expect(() => slots.assertFree('ada')).toThrow('You are reading 1 files')
  slots.assertFree('grace')
  await first.return(undefined)
  const failing = slots.hold('ada', bytes(true))
  await failing.next()
  await expect(failing.next()).rejects.toThrow('unplugged')
  for await (const piece of slots.hold('ada', bytes())) expect(piece).toHaveLength(1)
  slots.assertFree('ada')
})
