import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { bytesFor, bytesOf, PART } from '../chat/attachments/files.ts'
import { codeOf, startService } from '../support/service.ts'
import { mountSmall } from './storage/mounts.ts'

/** A service with its files in a folder, and an upload of two parts that is under way. */
async function beginUpload(folder: string) {
  const config = { attachments: { enabled: true, storage: `fs:${folder}` } }
  const service = await startService('sqlite::memory:', { config })
  onTestFinished(() => service.close())
  const ada = await service.signIn('ada')
  const bytes = await bytesFor(service, ada)
  const { conversation_id } = await ada.conversations.create({ title: 'Files' })
  const content = bytesOf(PART + 10)
  const { attachment } = await ada.attachments.create(conversation_id, { name: 'a.bin', size: content.length })
  const { id } = attachment
  const put = (n: number) => bytes.put(id, n, content.subarray((n - 1) * PART, n * PART))
  const post = () => ada.messages.postRoot(conversation_id, { content: '', attachment_ids: [id] })
  const read = async () => Buffer.from(await (await bytes.read(`/api/attachments/${id}/content`)).arrayBuffer())
  const received = async () => (await ada.attachments.get(id)).received
  const say = () => ada.messages.postRoot(conversation_id, { content: 'without files' })
  return { content, put, post, read, received, say }
}

it('a disk that is full refuses parts with 507, and the upload goes on when there is room (tmpfs)', async () => {
  const mount = mountSmall(6)
  if (!mount) return console.log('A full disk was not tried: this user may mount none')
  onTestFinished(mount.remove)
  const folder = join(mount.path, 'files')
  const { content, put, post, read, received, say } = await beginUpload(folder)
  const filler = join(mount.path, 'filler')
  writeFileSync(filler, Buffer.alloc(5 * 1024 * 1024))
  const full = await put(1)
  expect([full.status, ((await full.json()) as { code: string }).code]).toEqual([507, 'storage_full'])
  expect([(await put(1)).status, (await put(2)).status]).toEqual([507, 204])
  expect(await received()).toEqual([2])
  // Nothing half written takes the room that is left, and messages without files do not need it.
  expect(readdirSync(folder, { recursive: true }).filter((name) => String(name).includes('partial'))).toEqual([])
  await say()
  expect(await codeOf(post())).toBe('attachment_not_ready')
  rmSync(filler)
  expect((await put(1)).status).toBe(200)
  await post()
  expect((await read()).equals(content)).toBe(true)
})

it('a storage that is away refuses parts and reads with 503, and goes on when it is back', async () => {
  const mount = mountSmall(16)
  if (!mount) return console.log('A storage that is away was not tried: this user may mount none')
  onTestFinished(mount.remove)
  const folder = join(mount.path, 'files')
  mkdirSync(folder)
  const { content, put, post, read, received, say } = await beginUpload(folder)
  expect((await put(2)).status).toBe(204)
  // As a network file system that is not mounted: something else is in its place.
  const away = join(mount.path, 'away')
  const leave = () => {
    renameSync(folder, away)
    writeFileSync(folder, '')
  }
  const comeBack = () => {
    rmSync(folder)
    renameSync(away, folder)
  }
  leave()
  const refused = await put(1)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)])
  expect(await received()).toEqual([2])
  await say()
  comeBack()
  expect((await put(1)).status).toBe(200)
  await post()
  expect((await read()).equals(content)).toBe(true)
})
