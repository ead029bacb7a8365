import { createReadStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import type { FileInput } from '../../../lib/chat/attachments/uploading.ts'
import type { Actor } from '../../../lib/core/actor.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { filesInFolder } from '../../support/files-folder.ts'
import type { Person } from '../../support/service.ts'
import { innerState } from '../../support/service.ts'
import { bytesOf, PART, startWithFiles } from './files.ts'

describeOnEachDatabase('chat.attachments.upload', (openUrl) => {
  const service = setUpService(async () =>
    startWithFiles(await openUrl(), { config: { attachments: { max_bytes: 20 * PART } } }),
  )
  let ada: Person
  let actor: Actor
  let place: string
  beforeAll(async () => {
    ada = await service.signIn('ada')
    actor = await service.chat.users.actor(ada.id)
    place = (await ada.conversations.create({ title: 'Files' })).conversation_id
  })

  const left = () => innerState(service).db.all(sql`SELECT id FROM attachments`)
  const upload = (file: unknown) => service.chat.attachments.upload(actor, place, file as FileInput)

  async function contentOf(id: string): Promise<Buffer> {
    const pieces: Uint8Array[] = []
    for await (const piece of (await service.chat.attachments.open(actor, id)).bytes) pieces.push(piece)
    return Buffer.concat(pieces)
  }

  it('stores bytes, streams of Node and of the web, in pieces of any size, and a message can have the file', async () => {
    const content = bytesOf(2 * PART + 17)
    const path = join((await filesInFolder()).storage.slice('fs:'.length), 'report.bin')
    await writeFile(path, content)
    async function* pieces(length: number) {
      for (let at = 0; at < content.length; at += length) yield content.subarray(at, at + length)
    }
    const size = content.length
    for (const source of [
      { bytes: content },
      { stream: createReadStream(path), size },
      { stream: pieces(PART + 1), size },
      { stream: pieces(3 * PART), size },
      { stream: new Blob([content as Uint8Array<ArrayBuffer>]).stream(), size },
    ]) {
      const { attachment } = await upload({ name: 'report.bin', type: 'application/x-report', ...source })
      expect(attachment).toMatchObject({ name: 'report.bin', size, status: 'ready', type: 'application/x-report' })
      expect((await contentOf(attachment.id)).equals(content)).toBe(true)
      await ada.messages.postRoot(place, { content: '', attachment_ids: [attachment.id] })
    }
  })

  it('reads no further than what it stores, and ends the stream', async () => {
    let given = 0
    let isEnded = false
    async function* endless() {
      try {
        for (;;) {
          given += PART
          yield bytesOf(PART)
        }
      } finally {
        isEnded = true
      }
    }
    const before = await left()
    await expect(upload({ name: 'a', stream: endless(), size: 2 * PART })).rejects.toMatchObject({
      errors: [{ path: 'size', message: 'is less than the stream has' }],
    })
    expect([given, isEnded]).toEqual([3 * PART, true])
    expect(await left()).toEqual(before)
  })

  it('removes what it began when it fails, or is ended', async () => {
    const before = await left()
    async function* broken() {
      yield bytesOf(PART)
      throw new Error('unplugged')
    }
    async function* short() {
      yield bytesOf(10)
    }
    await expect(upload({ name: 'a', stream: broken(), size: 2 * PART })).rejects.toThrow('unplugged')
    await expect(upload({ name: 'a', stream: short(), size: 11 })).rejects.toMatchObject({
      errors: [{ path: 'size', message: 'is more than the 10 bytes of the stream' }],
    })
    const stop = new AbortController()
    async function* waiting() {
      yield bytesOf(PART)
      stop.abort(new Error('changed my mind'))
      await new Promise(() => {})
    }
    await expect(upload({ name: 'a', stream: waiting(), size: 2 * PART, signal: stop.signal })).rejects.toThrow(
      'changed my mind',
    )
    expect(await left()).toEqual(before)
  })

  it.each<[unknown, string]>([
    [undefined, 'file'],
    [{ name: 'a' }, 'bytes'],
    [{ name: 'a', bytes: 'text' }, 'bytes'],
    [{ name: 'a', bytes: Buffer.from('a'), stream: [] }, 'bytes'],
    [{ name: 'a', stream: 5, size: 5 }, 'stream'],
    [{ name: 'a', stream: (async function* () {})() }, 'size'],
    [{ name: 'a', bytes: Buffer.from('a'), typ: 'a/b' }, 'typ'],
    [{ name: 'a/b', bytes: Buffer.from('a') }, 'name'],
    [{ name: 'a', bytes: Buffer.alloc(0) }, 'size'],
  ])('refuses %j', async (file, path) => {
    await expect(upload(file)).rejects.toMatchObject({
      code: 'validation_failed',
      errors: [{ path }],
    })
  })

  it('putPart names what it needs when it gets bytes or a stream', async () => {
    const { attachment } = await ada.attachments.create(place, { name: 'a', size: 5 })
    const put = (part: unknown) =>
      service.chat.attachments.putPart(actor, attachment.id, 1, part as { bytes: Uint8Array })
    for (const part of [
      Buffer.from('hello'),
      undefined,
      {},
      { bytes: 'hello' },
      { bytes: new Blob(['hello']).stream() },
    ])
      await expect(put(part)).rejects.toMatchObject({
        code: 'validation_failed',
        message: expect.stringContaining('must be { bytes }'),
        errors: [{ path: 'part' }],
      })
    expect(await put({ bytes: Buffer.from('hello') })).toMatchObject({ attachment: { status: 'ready' } })
  })
})
