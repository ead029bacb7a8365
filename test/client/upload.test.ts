import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { UploadProgress } from '../../lib/client/index.ts'
import { startWorld } from './store/world.ts'

const PART = 4 * 1024 * 1024

/** Bytes of which no two parts are the same. */
function fileOf(size: number, seed = 1): File {
  const bytes = Buffer.alloc(size)
  for (let at = 0; at + 4 <= size; at += 4096) bytes.writeUInt32BE(at + seed, at)
  return new File([bytes], 'engine.bin', { type: 'application/x-engine' })
}

async function startUploads() {
  const folder = mkdtempSync(join(tmpdir(), 'chat-upload-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const world = await startWorld({ config: { attachments: { enabled: true, storage: `fs:${folder}` } } })
  const { conversation_id } = await world.ada.conversations.create({ title: 'Engines' })
  const parts = () =>
    world.network.calls.filter((call) => call.startsWith('PUT ')).map((call) => Number(call.split('/').at(-1)))
  const read = async (id: string) => {
    const response = await world.network.fetch(`http://chat.test/api/attachments/${id}/content`, { method: 'GET' })
    return Buffer.from(await response.arrayBuffer())
  }
  return { ...world, conversation_id, parts, read }
}

const bytesOf = async (file: Blob) => Buffer.from(await file.arrayBuffer())

it('a file of several parts arrives, in order and a few at once, and is posted', async () => {
  const { ada, conversation_id, parts, read, network } = await startUploads()
  const file = fileOf(4 * PART + 10)
  const seen: UploadProgress[] = []
  let [under_way, most] = [0, 0]
  network.before = (call) => {
    if (call.startsWith('PUT')) most = Math.max(most, ++under_way)
  }
  network.after = (call) => {
    if (call.startsWith('PUT')) under_way--
  }
  const attachment = await ada.upload(conversation_id, file, { onProgress: (progress) => seen.push(progress) })
  expect(attachment).toMatchObject({ name: 'engine.bin', size: file.size, status: 'ready' })
  expect(parts()).toEqual([1, 2, 3, 4, 5])
  expect(most).toBe(3)
  expect(seen[0]).toMatchObject({ sent: 0, size: file.size, attachment: { id: attachment.id } })
  expect(seen.map(({ sent }) => sent)).toEqual(seen.map(({ sent }) => sent).sort((a, b) => a - b))
  expect(seen.at(-1)).toEqual({ attachment, sent: file.size, size: file.size })
  expect((await read(attachment.id)).equals(await bytesOf(file))).toBe(true)
  const posted = await ada.messages.postRoot(conversation_id, { content: '', attachment_ids: [attachment.id] })
  expect(posted.message.attachments).toMatchObject([{ id: attachment.id, name: 'engine.bin' }])
})

it('a name on the disk loses the characters that no name of a file has; a given name is sent as it is', async () => {
  const { ada, conversation_id } = await startUploads()
  const send = (name: string, options = {}) => ada.upload(conversation_id, new File(['x'], name), options)
  expect((await send(' re\u202Eport\u200B\n.txt')).name).toBe('report.txt')
  expect((await send('\u200B')).name).toBe('file')
  expect((await send('👨‍👩‍👧 ❤️ 1️⃣.png')).name).toBe('👨‍👩‍👧 ❤️ 1️⃣.png')
  // A joiner behind Latin letters is how Persian plurals of foreign words are written.
  expect((await send('PDF\u200Cهای می\u200Cکنم.pdf')).name).toBe('PDFهای می\u200Cکنم.pdf')
  const unseen = [
    ...'\u0085\u00AD\u034F\u061C\u115F\u180B\u180E\u200D\u2800\u3164\uFE0F\uFEFF\uFFA0\uFFF9\u{E0061}\u{E0100}',
  ]
  for (const each of unseen) expect((await send(`a${each}b ${each}.txt`)).name).toBe('ab .txt')
  await expect(send('x', { name: 'a\u202Eb' })).rejects.toMatchObject({ code: 'validation_failed' })
})

it('a failed connection, a gateway and a lost response are no end, and only what is missing is sent again', async () => {
  const { ada, conversation_id, parts, read, network } = await startUploads()
  const file = fileOf(3 * PART)
  const failed = new Set<string>()
  network.before = (call) => {
    if (!call.endsWith('/parts/2') || failed.has(call)) return
    failed.add(call)
    throw new TypeError('fetch failed')
  }
  let isLost = false
  network.after = (call) => {
    if (!call.endsWith('/parts/3') || isLost) return
    isLost = true
    throw new TypeError('terminated')
  }
  const attachment = await ada.upload(conversation_id, file)
  expect([attachment.status, parts().sort()]).toEqual(['ready', [1, 2, 2, 3, 3]])
  expect((await read(attachment.id)).equals(await bytesOf(file))).toBe(true)
})

it('an upload that was broken off goes on by its id, on another page', async () => {
  const { ada, conversation_id, network, parts, read } = await startUploads()
  const file = fileOf(5 * PART)
  const abort = new AbortController()
  let id = ''
  const broken = ada.upload(conversation_id, file, {
    signal: abort.signal,
    onProgress({ attachment, sent }) {
      id = attachment.id
      if (sent >= 2 * PART) abort.abort(new Error('the page is left'))
    },
  })
  await expect(broken).rejects.toThrow('the page is left')
  const before = (await ada.attachments.get(id)).received!
  expect(before.length).toBeGreaterThanOrEqual(2)
  network.calls.length = 0
  const attachment = await ada.upload(conversation_id, file, { attachment_id: id })
  expect(attachment).toMatchObject({ id, status: 'ready' })
  // One of those that are there shows that it is the same file.
  expect(parts().sort()).toEqual([1, 2, 3, 4, 5].filter((n) => n === before[0] || !before.includes(n)))
  expect((await read(id)).equals(await bytesOf(file))).toBe(true)
  network.calls.length = 0
  expect(await ada.upload(conversation_id, file, { attachment_id: id })).toEqual(attachment)
  expect(parts()).toEqual([])
})

it('an upload does not go on with another file, nor without its id', async () => {
  const { ada, conversation_id } = await startUploads()
  const file = fileOf(5 * PART)
  const abort = new AbortController()
  let id = ''
  const broken = ada.upload(conversation_id, file, {
    signal: abort.signal,
    onProgress({ attachment, sent }) {
      id = attachment.id
      if (sent > 0) abort.abort()
    },
  })
  await expect(broken).rejects.toMatchObject({ name: 'AbortError' })
  const goOn = (other: File) => ada.upload(conversation_id, other, { attachment_id: id })
  await expect(goOn(fileOf(5 * PART + 1))).rejects.toMatchObject({ code: 'conflict' })
  await expect(goOn(fileOf(5 * PART, 2))).rejects.toMatchObject({ code: 'conflict' })
  await ada.attachments.remove(id)
  await expect(goOn(file)).rejects.toMatchObject({ code: 'not_found' })
})

it('what no repetition changes ends an upload at once', async () => {
  const { ada, grace, conversation_id, network, parts } = await startUploads()
  await expect(ada.upload(conversation_id, new Blob([]))).rejects.toMatchObject({ code: 'validation_failed' })
  await expect(grace.upload(conversation_id, fileOf(10))).rejects.toMatchObject({ code: 'not_found' })
  network.before = (call) => {
    if (call.startsWith('PUT')) network.isOffline = true
  }
  await expect(ada.upload(conversation_id, fileOf(10))).rejects.toThrow('fetch failed')
  // As often as there is hope, and no more.
  expect(parts().length).toBe(8)
})
