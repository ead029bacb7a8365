import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, type Person, type TestService, times } from '../../support/service.ts'
import { type Bytes, bytesFor, bytesOf, PART, PNG, startWithFiles, upload } from './files.ts'

const codeOf = async (response: Response) => `${response.status} ${((await response.json()) as { code: string }).code}`

describeOnEachDatabase('uploads', (openUrl) => {
  let service: TestService & { folder: string }
  let ada: Person
  let grace: Person
  let ofAda: Bytes
  let ofGrace: Bytes
  let place: string

  beforeAll(async () => {
    service = await startWithFiles(await openUrl(), { config: { attachments: { max_bytes: 40 * PART } } })
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    ;[ofAda, ofGrace] = [await bytesFor(service, ada), await bytesFor(service, grace)]
    place = (await ada.conversations.create({ title: 'Files' })).conversation_id
    await ada.participants.add(place, { user_id: grace.id })
  })
  afterAll(() => service.close())

  it('stores parts in any order, and is completed by the last one', async () => {
    const content = bytesOf(2 * PART + 17)
    const { attachment, parts, part_bytes } = await ada.attachments.create(place, {
      name: 'Äpfel.bin',
      size: content.length,
      type: 'application/x-apples',
    })
    expect({ parts, part_bytes }).toEqual({ parts: 3, part_bytes: PART })
    expect(attachment).toMatchObject({ name: 'Äpfel.bin', status: 'uploading', uploaded_by: ada.id })

    expect((await ofAda.put(attachment.id, 3, content.subarray(2 * PART))).status).toBe(204)
    expect((await ofAda.put(attachment.id, 1, content.subarray(0, PART))).status).toBe(204)
    expect(await ada.attachments.get(attachment.id)).toMatchObject({ received: [1, 3] })
    const last = await ofAda.put(attachment.id, 2, content.subarray(PART, 2 * PART))
    expect(last.status).toBe(200)
    expect(await last.json()).toMatchObject({ attachment: { status: 'ready', type: 'application/x-apples' } })

    const read = await ofAda.read(`/api/attachments/${attachment.id}/content`)
    expect(Buffer.from(await read.arrayBuffer()).equals(content)).toBe(true)
    expect(read.headers.get('content-type')).toBe('application/octet-stream')
  })

  it('takes a part again with the same bytes, and refuses others, before and after the end', async () => {
    const content = bytesOf(PART + 5)
    const { attachment } = await ada.attachments.create(place, { name: 'twice', size: content.length })
    const first = content.subarray(0, PART)
    const other = Buffer.from(first).fill(7, 0, 1)
    expect((await ofAda.put(attachment.id, 1, first)).status).toBe(204)
    expect((await ofAda.put(attachment.id, 1, first)).status).toBe(204)
    expect(await codeOf(await ofAda.put(attachment.id, 1, other))).toBe('409 conflict')
    expect((await ofAda.put(attachment.id, 2, content.subarray(PART))).status).toBe(200)
    expect((await ofAda.put(attachment.id, 1, first)).status).toBe(204)
    expect(await codeOf(await ofAda.put(attachment.id, 1, other))).toBe('409 conflict')
  })

  it('is completed once, whatever arrives at the same time', async () => {
    const content = bytesOf(20 * PART)
    const { attachment } = await ada.attachments.create(place, { name: 'many', size: content.length })
    const parts = times(20, (n) => content.subarray(n * PART, (n + 1) * PART))
    const answers = await Promise.all(
      [...parts.entries()].flatMap(([n, part]) =>
        times(n === 19 ? 2 : 1, () => ofAda.put(attachment.id, n + 1, part).then(({ status }) => status)),
      ),
    )
    expect(answers.filter((status) => status === 200)).toHaveLength(1)
    expect(answers.filter((status) => status === 204)).toHaveLength(20)
  })

  it('keeps the bytes of one of two different parts that arrive at the same time', async () => {
    const both = [bytesOf(PART, 'one'), bytesOf(PART, 'two')]
    const { attachment } = await ada.attachments.create(place, { name: 'race', size: PART + 1 })
    const answers = await Promise.all(both.map((part) => ofAda.put(attachment.id, 1, part)))
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 409])
    await ofAda.put(attachment.id, 2, Buffer.from('x'))
    const read = await ofAda.read(`/api/attachments/${attachment.id}/content`, { range: `bytes=0-${PART - 1}` })
    const winner = both[answers.findIndex(({ status }) => status === 204)]!
    expect(Buffer.from(await read.arrayBuffer()).equals(winner)).toBe(true)
  })

  it('refuses parts of another length, digest, type or encoding', async () => {
    const { attachment } = await ada.attachments.create(place, { name: 'strict', size: 10 })
    const bytes = Buffer.from('0123456789')
    const digest = (of: string) => `sha-256=:${createHash('sha256').update(of).digest('base64')}:`
    expect(await codeOf(await ofAda.put(attachment.id, 1, bytes.subarray(1)))).toBe('422 validation_failed')
    expect(await codeOf(await ofAda.put(attachment.id, 1, Buffer.alloc(11)))).toBe('422 validation_failed')
    expect(await codeOf(await ofAda.put(attachment.id, 1, Buffer.alloc(PART + 1)))).toBe('413 payload_too_large')
    for (const wrong of [digest('another'), 'sha-256=:AAAA:', 'sha-256=::'])
      expect(await codeOf(await ofAda.put(attachment.id, 1, bytes, { 'content-digest': wrong }))).toBe(
        '422 validation_failed',
      )
    const json = { 'content-type': 'application/json' }
    expect(await codeOf(await ofAda.put(attachment.id, 1, bytes, json))).toBe('415 unsupported_media_type')
    const zipped = { 'content-encoding': 'gzip' }
    expect(await codeOf(await ofAda.put(attachment.id, 1, bytes, zipped))).toBe('415 unsupported_media_type')
    for (const n of [0, 2, '01', 'x', '1e0', '99999999999999999999'])
      expect(await codeOf(await ofAda.put(attachment.id, n, bytes))).toBe('404 not_found')
    expect((await ada.attachments.get(attachment.id)).received).toEqual([])
    const right = { 'content-digest': `sha-512=:AAAA:, ${digest('0123456789')}` }
    expect((await ofAda.put(attachment.id, 1, bytes, right)).status).toBe(200)
  })

  it('removes the spaces around a name', async () => {
    const { attachment } = await ada.attachments.create(place, { name: ' \u3000notes.txt ', size: 1 })
    expect(attachment.name).toBe('notes.txt')
    await ada.attachments.remove(attachment.id)
  })

  it.each([
    ['an empty name', { name: '' }, '422 name'],
    ['a long name', { name: 'x'.repeat(256) }, '422 name'],
    ['a path', { name: 'a/b' }, '422 name'],
    ['a path of Windows', { name: 'a\\b' }, '422 name'],
    ['this folder', { name: '.' }, '422 name'],
    ['the folder above', { name: '..' }, '422 name'],
    ['spaces only', { name: ' \u00A0 ' }, '422 name'],
    ['the folder above between spaces', { name: ' .. ' }, '422 name'],
    ['a turned direction', { name: 'invoice\u202Egpj.exe' }, '422 name'],
    ['an invisible space', { name: 'invoice\u200B.pdf' }, '422 name'],
    ['a joiner of nothing', { name: 'invoice\u200D.pdf' }, '422 name'],
    ['a NUL', { name: 'a\0b' }, '422 name'],
    ['a line break', { name: 'a\r\nSet-Cookie: x' }, '422 name'],
    ['a lone surrogate', { name: 'a\uD800' }, '422 name'],
    ['no size', { size: 0 }, '422 size'],
    ['a negative size', { size: -1 }, '422 size'],
    ['a fraction', { size: 1.5 }, '422 size'],
    ['a text as size', { size: '5' }, '422 size'],
    ['too large a file', { size: 40 * PART + 1 }, '413 '],
    ['a malformed type', { type: 'png' }, '422 type'],
    ['a type with a line break', { type: 'text/plain\r\nx: y' }, '422 type'],
  ])('refuses %s', async (_, given, expected) => {
    const input = { name: 'a', size: 1, ...given } as { name: string; size: number }
    const failure = await ada.attachments.create(place, input).catch((error) => error)
    expect(`${failure.status} ${failure.errors?.[0].path ?? ''}`).toBe(expected)
  })

  it('serves a file as what it is, whatever it is called', async () => {
    const id = await upload(ada, ofAda, place, { name: 'page.html', content: PNG, type: 'text/html' })
    expect((await ada.attachments.get(id)).attachment).toMatchObject({ type: 'image/png', width: 3, height: 2 })
    const read = await ofAda.read(`/api/attachments/${id}/content?inline=true`)
    expect(Object.fromEntries(read.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-disposition': `inline; filename="page.html"; filename*=UTF-8''page.html`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'private, no-cache',
      'accept-ranges': 'bytes',
    })
    expect((await ofAda.read(`/api/attachments/${id}/content?inline=yes`)).status).toBe(422)
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')
    const picture = await upload(ada, ofAda, place, { name: 'a.svg', content: svg, type: 'image/svg+xml' })
    const shown = await ofAda.read(`/api/attachments/${picture}/content?inline=true`)
    expect(shown.headers.get('content-type')).toBe('application/octet-stream')
    expect(shown.headers.get('content-disposition')).toMatch(/^attachment;/)
  })

  it('answers ranges and conditions', async () => {
    const content = bytesOf(PART + 100)
    const path = `/api/attachments/${await upload(ada, ofAda, place, { content })}/content`
    const whole = await ofAda.read(path, {}, 'HEAD')
    expect([whole.status, whole.headers.get('content-length')]).toEqual([200, String(content.length)])
    const etag = whole.headers.get('etag')!
    const ranged = await ofAda.read(path, { range: 'bytes=0-1' }, 'HEAD')
    expect([ranged.status, ranged.headers.get('content-length')]).toEqual([200, String(content.length)])

    const across = await ofAda.read(path, { range: `bytes=${PART - 5}-${PART + 4}` })
    expect([across.status, across.headers.get('content-range')]).toEqual([
      206,
      `bytes ${PART - 5}-${PART + 4}/${content.length}`,
    ])
    expect(Buffer.from(await across.arrayBuffer()).equals(content.subarray(PART - 5, PART + 5))).toBe(true)
    const end = await ofAda.read(path, { range: 'bytes=-3', 'if-range': etag })
    expect(Buffer.from(await end.arrayBuffer()).equals(content.subarray(-3))).toBe(true)

    const beyond = await ofAda.read(path, { range: 'bytes=9999999999-' })
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, `bytes */${content.length}`])
    for (const range of ['items=0-1', 'bytes=0-1,4-5', 'bytes=x']) {
      const response = await ofAda.read(path, { range })
      expect([response.status, (await response.arrayBuffer()).byteLength]).toEqual([200, content.length])
    }
    const other = await ofAda.read(path, { range: 'bytes=0-1', 'if-range': '"other"' })
    expect([other.status, (await other.arrayBuffer()).byteLength]).toEqual([200, content.length])
    expect((await ofAda.read(path, { 'if-none-match': `"x", W/${etag}` })).status).toBe(304)
  })

  it('has every byte in its place, whatever the borders of a range', async () => {
    const content = randomBytes(2 * PART + 100)
    const path = `/api/attachments/${await upload(ada, ofAda, place, { content })}/content`
    const read = async (headers = {}) => Buffer.from(await (await ofAda.read(path, headers)).arrayBuffer())
    expect((await read()).equals(content)).toBe(true)
    const mib = PART / 4
    for (const [start, end] of [
      [0, 1],
      [mib - 1, mib + 1],
      [mib, 2 * mib],
      [mib - 1, 3 * mib + 1],
      [PART - 1, PART + mib + 1],
      [5, 2 * PART + 99],
      [2 * PART - 1, 2 * PART],
      [2 * PART + 99, 2 * PART + 100],
    ] as const) {
      const range = await read({ range: `bytes=${start}-${end - 1}` })
      expect([start, range.equals(content.subarray(start, end))]).toEqual([start, true])
    }
  })

  it('belongs to its uploader until a message has it', async () => {
    const { attachment } = await ada.attachments.create(place, { name: 'mine', size: 3 })
    const id = attachment.id
    expect(await codeOf(await ofGrace.put(id, 1, Buffer.from('abc')))).toBe('404 not_found')
    await ofAda.put(id, 1, Buffer.from('abc'))
    expect(await codeOf(await ofGrace.read(`/api/attachments/${id}/content`))).toBe('404 not_found')
    await expect(grace.attachments.get(id)).rejects.toMatchObject({ status: 404 })
    await expect(grace.attachments.remove(id)).rejects.toMatchObject({ status: 404 })
    await expect(grace.messages.postRoot(place, { content: 'x', attachment_ids: [id] })).rejects.toMatchObject({
      status: 404,
    })
    await ada.attachments.remove(id)
    await expect(ada.attachments.get(id)).rejects.toMatchObject({ status: 404 })
  })

  it('is for those who may post, and reading for those who may read', async () => {
    const viewer = await service.signIn('vera')
    const reader = await service.signIn('rosa', ['read_only'])
    const outsider = await service.signIn('otto')
    await ada.participants.add(place, { user_id: viewer.id, role: 'viewer' })
    await ada.participants.add(place, { user_id: reader.id })
    const file = { name: 'a', size: 1 }
    for (const [person, status] of [
      [viewer, 403],
      [reader, 403],
      [outsider, 404],
    ] as const)
      await expect(person.attachments.create(place, file)).rejects.toMatchObject({ status })

    const id = await upload(ada, ofAda, place)
    await ada.messages.postRoot(place, { content: '', attachment_ids: [id] })
    const statuses = [viewer, reader, outsider].map(async (person) => {
      const bytes = await bytesFor(service, person)
      return (await bytes.read(`/api/attachments/${id}/content`)).status
    })
    expect(await Promise.all(statuses)).toEqual([200, 200, 404])
  })

  it('takes a number of parts of a user at once: each is in memory', async () => {
    const { attachment } = await ada.attachments.create(place, { name: 'a', size: 2 })
    const { key } = await service.chat.keys.create(await service.chat.users.actor(ada.id), { name: 'slow' })
    const { port } = new URL(service.base_url)
    const sockets = times(61, () => {
      const socket = connect(Number(port), '127.0.0.1')
      socket.write(
        `PUT /api/attachments/${attachment.id}/parts/1 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/octet-stream\r\ncontent-length: 2\r\n\r\nx`,
      )
      return socket
    })
    const [first] = await Promise.race(sockets.map((socket) => once(socket, 'data')))
    expect(String(first)).toMatch(/^HTTP\/1.1 429 [\s\S]*retry-after: 1\r\n/i)
    const closed = sockets.map((socket) => once(socket, 'close'))
    for (const socket of sockets) socket.destroy()
    await Promise.all(closed)
    await expect.poll(async () => (await ofAda.put(attachment.id, 1, Buffer.from('xy'))).status).toBe(200)
  })

  it('takes parts of others while users hold theirs without sending them', async () => {
    const holders = await Promise.all(times(3, (n) => service.signIn(`holder${n}`)))
    const { port } = new URL(service.base_url)
    const sockets = await Promise.all(
      holders.map(async (holder) => {
        await ada.participants.add(place, { user_id: holder.id })
        const { attachment } = await holder.attachments.create(place, { name: 'a', size: 1 })
        const { key } = await service.chat.keys.create(await service.chat.users.actor(holder.id), { name: 'slow' })
        return times(43, () => {
          const socket = connect(Number(port), '127.0.0.1')
          socket.write(
            `PUT /api/attachments/${attachment.id}/parts/1 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/octet-stream\r\ncontent-length: 1\r\n\r\n`,
          )
          return socket
        })
      }),
    )
    // Each of the three has all of its places.
    const held = () => service.nodes.reduce((sum, node) => sum + innerState(node).files.partSlots.bytes(), 0)
    await expect.poll(held).toBe(3 * 12 * service.nodes.length * 64 * 1024)
    const id = await upload(grace, ofGrace, place)
    expect((await grace.attachments.get(id)).attachment.status).toBe('ready')
    const closed = sockets.flat().map((socket) => once(socket, 'close'))
    for (const socket of sockets.flat()) socket.destroy()
    await Promise.all(closed)
    await expect.poll(held).toBe(0)
  })

  it('has at most twenty of a user under way', async () => {
    const ken = await service.signIn('ken')
    await ada.participants.add(place, { user_id: ken.id })
    const outcomes = await Promise.all(
      times(25, () => ken.attachments.create(place, { name: 'a', size: 1 }).catch((error) => error.code)),
    )
    expect(outcomes.filter((outcome) => outcome === 'rate_limited')).toHaveLength(5)
  })
})
