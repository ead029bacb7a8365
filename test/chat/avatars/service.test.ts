import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, inject, it, onTestFinished } from 'vitest'
import { sweepFiles } from '../../../lib/chat/attachments/sweep.ts'
import { currentMicros } from '../../../lib/core/time.ts'
import { MINUTE } from '../../../lib/core/units.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { exportUser } from '../../../lib/ops/user-export/export.ts'
import { openStorage } from '../../../lib/storage/open.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { exif, jpeg, png, pngChunk } from '../../files/pictures/make.ts'
import { nextOfType } from '../../live/readers.ts'
import { checkedFetch } from '../../support/answers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes, startNodes } from '../../support/describe-service.ts'
import { filesInFolder } from '../../support/files-folder.ts'
import { placementOf } from '../../support/placement.ts'
import { codeOf, innerState, type Person, startService, times } from '../../support/service.ts'

const PHOTO = png(2, 2)
const OTHER = png(3, 3)

describeOnEachDatabase('photos that users set', (openUrl) => {
  const [service, node] = setUpNodes(async () =>
    startNodes(await openUrl(), { config: { attachments: await filesInFolder(), avatars: { max_bytes: 20_000 } } }),
  )
  let admin: Person
  beforeAll(async () => {
    admin = await service.signIn('admin', ['admin', 'member'])
  })

  const actorOf = ({ id }: Person) => service.chat.users.actor(id)
  const keyOf = async (person: Person) =>
    (await service.chat.keys.create(await actorOf(person), { name: 'photos' })).key

  async function call(person: Person, body: BodyInit | null, init: RequestInit & { duplex?: 'half' } = {}) {
    const response = await checkedFetch(`${service.base_url}/api/auth/me/avatar`, {
      method: 'PUT',
      body,
      ...init,
      headers: { authorization: `Bearer ${await keyOf(person)}`, ...init.headers },
    })
    const answer = (await response.json()) as { avatar_url?: string; code?: string }
    return { status: response.status, ...answer, connection: response.headers.get('connection') }
  }
  const put = (person: Person, bytes: Buffer, type = 'text/plain') =>
    call(person, new Uint8Array(bytes), { headers: { 'content-type': type } })
  const read = (path: string, init?: RequestInit) => checkedFetch(service.base_url + path, init)
  const bytesAt = async (path: string) => Buffer.from(await (await read(path)).arrayBuffer())
  const blobs = () =>
    innerState(service).db.all<{ id: string; released_at: number | null }>(
      sql`SELECT id, released_at FROM blobs ORDER BY id`,
    )
  const sweep = (grace?: number) => sweepFiles(innerState(service), { after: '' }, grace === undefined ? {} : { grace })

  it('are set, read without a session, replaced and removed; each has a URL of its own', async () => {
    const ada = await service.signIn('ada')
    const first = await put(ada, jpeg(4, 3, [exif(6, 'GPS 52.5 N')]))
    expect(first).toMatchObject({ status: 200, avatar_url: expect.stringMatching(/^\/api\/avatars\/[0-9a-f-]{36}$/) })
    const response = await read(first.avatar_url!)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/jpeg',
      'cache-control': 'private, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'cross-origin',
    })
    const bytes = Buffer.from(await response.arrayBuffer())
    expect(bytes.includes('GPS')).toBe(false)
    const head = await read(first.avatar_url!, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, `${bytes.length}`, ''])

    const second = await put(ada, png(2, 2, [pngChunk('tEXt', Buffer.from('Author\0Ada'))]))
    expect(second.avatar_url).not.toBe(first.avatar_url)
    expect((await read(first.avatar_url!)).status).toBe(404)
    expect((await bytesAt(second.avatar_url!)).equals(PHOTO)).toBe(true)
    expect((await service.chat.auth.me(await actorOf(ada))).user.avatar_url).toBe(second.avatar_url)

    await service.chat.auth.removeAvatar(await actorOf(ada))
    await service.chat.auth.removeAvatar(await actorOf(ada))
    expect((await read(second.avatar_url!)).status).toBe(404)
    expect((await service.chat.auth.me(await actorOf(ada))).user).not.toHaveProperty('avatar_url')
    expect((await read(`/api/avatars/${second.avatar_url!.slice(-36).toUpperCase()}`)).status).toBe(404)
    expect((await read('/api/avatars/x')).status).toBe(404)
  })

  it('are in people, participants and the other one of a direct conversation, and told on each node', async () => {
    const [grace, alan] = [await service.signIn('grace'), await service.signIn('alan')]
    const { conversation_id } = await grace.conversations.create({ title: 'Photos' })
    await grace.participants.add(conversation_id, { user_id: alan.id })
    const events = node.chat.events.follow(await actorOf(alan), conversation_id)
    expect((await events.next()).value!.event.type).toBe('stream.ready')
    const { avatar_url } = await put(grace, PHOTO)
    expect((await nextOfType(events, 'user.updated')).payload).toMatchObject({ user: { id: grace.id, avatar_url } })
    await events.return?.(undefined)
    const { users, participants, conversations } = node.chat
    const actor = await actorOf(alan)
    expect((await users.get(actor, grace.id)).user).toMatchObject({ avatar_url })
    expect((await users.search(actor, { query: 'grace' })).users).toMatchObject([{ avatar_url }])
    const list = (await participants.list(actor, conversation_id)).participants
    expect(list.map((participant) => participant.avatar_url)).toEqual([avatar_url, undefined])
    await conversations.direct(actor, { user_id: grace.id })
    const direct = (await conversations.list(actor)).conversations.find((conversation) => conversation.direct)
    expect(direct!.with).toMatchObject({ avatar_url })
    expect((await users.describe(OPERATOR, grace.id)).user).toMatchObject({ avatar_url })
    expect((await bytesAt(avatar_url!)).equals(PHOTO)).toBe(true)
  })

  it.each([
    [415, 'unsupported_media_type', Buffer.from('GIF89a')],
    [415, 'unsupported_media_type', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    [422, 'validation_failed', PHOTO.subarray(0, -20)],
    [422, 'validation_failed', png(4097, 1)],
    [413, 'payload_too_large', randomBytes(20_001)],
  ])('a body that is none is refused with %s %s', async (status, code, bytes) => {
    const eve = await service.signIn(`eve${status}${bytes.length}`)
    expect(await put(eve, bytes)).toMatchObject({ status, code })
    expect((await service.chat.auth.me(await actorOf(eve))).user).not.toHaveProperty('avatar_url')
  })

  it('are read up to their maximum where no length is announced, and the connection stays', async () => {
    const zoe = await service.signIn('zoe')
    const streamed = (bytes: Buffer) =>
      call(zoe, new Blob([new Uint8Array(bytes)]).stream(), {
        duplex: 'half',
        headers: { 'content-type': 'image/png' },
      })
    expect(await streamed(PHOTO)).toMatchObject({ status: 200, connection: 'keep-alive' })
    expect(await streamed(randomBytes(200_000))).toMatchObject({ status: 413, code: 'payload_too_large' })
    expect(await streamed(Buffer.alloc(0))).toMatchObject({ status: 415 })
  })

  it('are set ten times an hour, refused ones too', async () => {
    const max = await service.signIn('max')
    const bodies = [PHOTO, Buffer.from('no'), randomBytes(20_001)]
    const answers = await Promise.all(times(12, (n) => put(max, bodies[n % 3]!)))
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(2)
    expect(answers.filter(({ code }) => code === 'rate_limited')).toHaveLength(2)
  })

  it('are at most ten in any hour: each that was sent gives way to another after an hour', async () => {
    let now = currentMicros()
    const held = await startService(await openUrl(), {
      config: { attachments: await filesInFolder() },
      ports: { now: () => now },
    })
    onTestFinished(() => held.close())
    const actor = await held.chat.users.actor((await held.signIn('ada')).id)
    const send = () => codeOf(held.chat.auth.setAvatar(actor, Buffer.from('no')))
    const sendMany = async (count: number) => {
      const codes = []
      for (let n = 0; n < count; n++) codes.push(await send())
      return codes
    }
    const refused = 'unsupported_media_type'
    expect(await sendMany(4)).toEqual(times(4, () => refused))
    now += 30 * MINUTE
    expect(await sendMany(7)).toEqual([...times(6, () => refused), 'rate_limited'])
    now += 30 * MINUTE - 1
    await expect(held.chat.auth.setAvatar(actor, PHOTO)).rejects.toMatchObject({ retry_after_seconds: 1 })
    now += 1
    expect(await sendMany(5)).toEqual([...times(4, () => refused), 'rate_limited'])
    await expect(held.chat.auth.setAvatar(actor, PHOTO)).rejects.toMatchObject({ retry_after_seconds: 1800 })
  })

  it('one of photos that are set at once stays, and the bytes of the others are released', async () => {
    const kim = await service.signIn('kim')
    const answers = await Promise.all(times(6, (n) => put(kim, n % 2 ? PHOTO : OTHER)))
    const urls = answers.map(({ avatar_url }) => avatar_url!)
    const { avatar_url } = (await service.chat.auth.me(await actorOf(kim))).user
    const statuses = await Promise.all(urls.map(async (url) => [url, (await read(url)).status]))
    expect(statuses).toEqual(urls.map((url) => [url, url === avatar_url ? 200 : 404]))
    const live = (await blobs()).filter(
      ({ id, released_at }) => urls.some((url) => url.endsWith(id)) && released_at === null,
    )
    expect(live.map(({ id }) => id)).toEqual([avatar_url!.slice(-36)])
  })

  it('are refused to read-only users, system actors and the operator', async () => {
    const reader = await service.signIn('reader')
    await service.chat.users.change(OPERATOR, reader.id, { roles: ['read_only'] })
    const { auth } = service.chat
    for (const actor of [await actorOf(reader), await service.chat.system('photos'), OPERATOR]) {
      expect(await codeOf(auth.setAvatar(actor, PHOTO))).toBe('forbidden')
      expect(await codeOf(auth.removeAvatar(actor))).toBe('forbidden')
    }
    expect(await codeOf(auth.setAvatar(await actorOf(admin), 'x' as unknown as Uint8Array))).toBe('validation_failed')
  })

  it('give way to that of a host, and come back by no text of it', async () => {
    const { users, auth } = service.chat
    const ensure = async (avatar_url: string) =>
      (await users.ensure(OPERATOR, { subject: 'host', username: 'host', avatar_url })).user.avatar_url
    await ensure('')
    const actor = await users.actorOf('host')
    const { avatar_url } = await auth.setAvatar(actor, PHOTO)
    expect(await ensure('')).toBe(avatar_url)
    expect(await ensure('https://example.org/a.png')).toBe('https://example.org/a.png')
    expect((await read(avatar_url)).status).toBe(404)
    expect(await codeOf(auth.setAvatar(actor, PHOTO))).toBe('conflict')
    await auth.removeAvatar(actor)
    await users.removeAvatar(OPERATOR, actor.user_id)
    expect((await auth.me(actor)).user.avatar_url).toBe('https://example.org/a.png')
    await sweep()
    expect((await blobs()).find(({ id }) => avatar_url.endsWith(id))?.released_at).not.toBe(null)
    expect(await ensure('')).toBeUndefined()
    expect((await auth.setAvatar(actor, PHOTO)).avatar_url).not.toBe(avatar_url)
  })

  it('are not set by a user who is disabled while the bytes arrive', async () => {
    const { users, auth } = service.chat
    const late = await service.signIn('late')
    const read = async (_: number, buffer: Uint8Array) => {
      await users.change(OPERATOR, late.id, { disabled: true })
      buffer.set(PHOTO)
      return buffer.subarray(0, PHOTO.length)
    }
    expect(await codeOf(auth.setAvatar(await actorOf(late), read))).toBe('unauthenticated')
    expect((await users.describe(OPERATOR, late.id)).user).not.toHaveProperty('avatar_url')
  })

  it('are removed by an administrator, which the log keeps', async () => {
    const bob = await service.signIn('bob')
    const { avatar_url } = await put(bob, PHOTO)
    const { users, audit } = service.chat
    expect(await codeOf(users.removeAvatar(await actorOf(bob), bob.id))).toBe('forbidden')
    expect(await codeOf(users.removeAvatar(await actorOf(admin), randomId()))).toBe('not_found')
    await users.removeAvatar(await actorOf(admin), bob.id)
    await users.removeAvatar(await actorOf(admin), bob.id)
    expect((await read(avatar_url!)).status).toBe(404)
    const { entries } = await audit.list(OPERATOR, { subject_id: bob.id, act: 'user.photo_removed' })
    expect(entries).toMatchObject([{ actor_id: admin.id, subject_id: bob.id }])
  })

  it('keep their bytes in each sweep, also when a program without photos has released them', async () => {
    const lin = await service.signIn('lin')
    const { avatar_url } = await put(lin, PHOTO)
    const { db } = innerState(service)
    const id = avatar_url!.slice(-36)
    await sweep(0)
    expect((await blobs()).find((blob) => blob.id === id)).toEqual({ id, released_at: null })
    await db.write((tx) => tx.run(sql`UPDATE blobs SET released_at = 1 WHERE id = ${id}`))
    await db.write((tx) => tx.run(sql`INSERT INTO blob_sizes (bytes, released_bytes) VALUES (0, ${PHOTO.length})`))
    await sweep(0)
    expect((await blobs()).find((blob) => blob.id === id)).toEqual({ id, released_at: null })
    expect((await bytesAt(avatar_url!)).equals(PHOTO)).toBe(true)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('go with their user, at once, and with their bytes', async () => {
    const tom = await service.signIn('tom')
    const { avatar_url } = await put(tom, PHOTO)
    await service.chat.users.erase(OPERATOR, tom.id, { messages: 'keep' })
    expect((await read(avatar_url!)).status).toBe(404)
    await sweep()
    expect((await blobs()).find(({ id }) => avatar_url!.endsWith(id))).toBeUndefined()
    const store = await innerState(service).files.open()
    expect(await store.get(`${avatar_url!.slice(-36)}/1`)).toBeUndefined()
  })

  it('are in the export of their user, and missing there without their bytes, which a check finds and repairs', async () => {
    const una = await service.signIn('una')
    const { avatar_url } = await put(una, PHOTO)
    const folder = await mkdtemp(join(inject('folder'), 'una-'))
    expect(await exportUser(innerState(service), una.id, join(folder, 'first'))).toMatchObject({ missing: 0 })
    expect((await readFile(join(folder, 'first', 'photo.png'))).equals(PHOTO)).toBe(true)

    const { ops, auth } = service.chat
    expect((await ops.fsckFiles()).findings).toEqual([])
    await (await innerState(service).files.open()).remove(`${avatar_url!.slice(-36)}/1`)
    expect((await read(avatar_url!)).status).toBe(404)
    expect(await exportUser(innerState(service), una.id, join(folder, 'second'))).toMatchObject({
      missing: 1,
    })
    expect((await ops.fsckFiles()).findings).toMatchObject([{ name: 'file-photos', count: 1, examples: [una.id] }])
    expect((await ops.fsckFiles({ repair: true })).findings).toMatchObject([{ name: 'file-photos', repaired: true }])
    expect((await auth.me(await actorOf(una))).user).not.toHaveProperty('avatar_url')
    expect((await ops.fsckFiles()).findings).toEqual([])

    const { db } = innerState(service)
    await db.write((tx) => tx.run(sql`UPDATE users SET avatar_url = ${avatar_url!} WHERE id = ${una.id}`))
    await db.write((tx) => tx.run(sql`DELETE FROM blobs WHERE id = ${avatar_url!.slice(-36)}`))
    await db.write((tx) =>
      tx.run(sql`INSERT INTO blob_sizes (bytes, released_bytes) VALUES (${-PHOTO.length}, ${-PHOTO.length})`),
    )
    expect((await ops.fsck()).findings).toMatchObject([{ name: 'photos-with-bytes', examples: [una.id] }])
    expect((await ops.fsck({ repair: true })).findings).toMatchObject([{ name: 'photos-with-bytes', repaired: true }])
    expect((await ops.fsck()).findings).toEqual([])
  })
})

describeOnEachDatabase('photos of a service', (openUrl) => {
  it('have its address before their path, and come with an archive and its files', async () => {
    const url = await openUrl()
    const attachments = await filesInFolder()
    const config = { attachments, server: { public_url: 'https://example.org/chat' } }
    const service = await startService(url, { config })
    onTestFinished(() => service.close())
    const ada = await service.signIn('ada')
    const actor = await service.chat.users.actor(ada.id)
    const { avatar_url } = await service.chat.auth.setAvatar(actor, PHOTO)
    expect(avatar_url).toMatch(/^https:\/\/example\.org\/chat\/api\/avatars\//)
    expect((await service.chat.auth.me(actor)).user.avatar_url).toBe(avatar_url)

    let archive = ''
    const source = await openStorage({ database: url, ...placementOf(url) })
    await source.export((lines) => {
      archive += lines
    })
    await source.close()
    const targetUrl = await openUrl()
    const target = await openStorage({ database: targetUrl, ...placementOf(targetUrl) })
    await target.migrate()
    await target.import(
      (async function* () {
        yield* archive.trimEnd().split('\n')
      })(),
    )
    await target.close()
    const copy = await startService(targetUrl, { config })
    onTestFinished(() => copy.close())
    expect((await copy.chat.auth.me(actor)).user.avatar_url).toBe(avatar_url)
    const pieces: Uint8Array[] = []
    for await (const piece of (await copy.chat.users.openAvatar(avatar_url.slice(-36))).bytes) pieces.push(piece)
    expect(Buffer.concat(pieces).equals(PHOTO)).toBe(true)
  })

  it('are off where the configuration says so, also those that were set', async () => {
    const url = await openUrl()
    const attachments = await filesInFolder()
    const before = await startService(url, { config: { attachments } })
    const { id } = await before.signIn('ada')
    expect((await before.chat.capabilities.get()).avatars).toEqual({ max_bytes: 1024 * 1024 })
    const { avatar_url } = await before.chat.auth.setAvatar(await before.chat.users.actor(id), PHOTO)
    await before.close()
    const service = await startService(url, { config: { attachments, avatars: { enabled: false } } })
    onTestFinished(() => service.close())
    const actor = await service.chat.users.actor(id)
    expect(await service.chat.capabilities.get()).not.toHaveProperty('avatars')
    expect((await service.chat.auth.me(actor)).user).not.toHaveProperty('avatar_url')
    expect((await checkedFetch(service.base_url + avatar_url)).status).toBe(404)
    const body = new Uint8Array(2_000_000)
    const put = await checkedFetch(`${service.base_url}/api/auth/me/avatar`, { method: 'PUT', body })
    expect(put.status).toBe(404)
    const { auth, users } = service.chat
    for (const call of [
      () => auth.setAvatar(actor, PHOTO),
      () => auth.removeAvatar(actor),
      () => users.removeAvatar(OPERATOR, id),
    ])
      expect(await codeOf(call())).toBe('not_found')
  })
})

const randomId = () =>
  createHash('sha256')
    .update('none')
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, '$1-$2-$3-$4-$5')
