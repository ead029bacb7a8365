import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { uploadsOf } from '../../../lib/client/store/parts.ts'
import { startThread, waitForView } from './world.ts'

async function startUploads() {
  const folder = mkdtempSync(join(tmpdir(), 'chat-uploads-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const world = await startThread({ config: { attachments: { enabled: true, storage: `fs:${folder}` } } })
  const uploads = uploadsOf(world.store)
  return { ...world, uploads, list: uploads.list(world.conversation_id) }
}

const fileOf = (name: string, size = 10) => new File([Buffer.alloc(size, name)], name, { type: 'text/plain' })
const areReady = (uploads: readonly { status: string }[]) => uploads.every(({ status }) => status === 'ready')

it('files are uploaded one after another, and leave with the post that takes them', async () => {
  const { uploads, list, store, conversation_id, reply, thread, grace, root_id } = await startUploads()
  const seen: string[] = []
  list.subscribe(() =>
    seen.push(
      list
        .getSnapshot()
        .map(({ status }) => status[0])
        .join(''),
    ),
  )
  uploads.add(conversation_id, [fileOf('one.txt'), fileOf('two.txt', 20)])
  expect(list.getSnapshot()).toMatchObject([
    { name: 'one.txt', size: 10, sent: 0, status: 'waiting' },
    { name: 'two.txt', size: 20, sent: 0, status: 'waiting' },
  ])
  await waitForView(list, areReady)
  expect(seen).not.toContain('uu')
  expect(seen.at(-1)).toBe('rr')
  const attachments = uploads.take(conversation_id)
  expect(attachments.map(({ name }) => name)).toEqual(['one.txt', 'two.txt'])
  expect([list.getSnapshot(), uploads.take(conversation_id)]).toEqual([[], []])
  const shown = waitForView(thread, ({ messages }) => messages.some(({ attachments = [] }) => attachments.length === 2))
  await store.post({ ...reply, content: '', attachments })
  await shown
  const { messages } = await grace.threads.tree(root_id)
  expect(messages[1]?.attachments?.map(({ name }) => name)).toEqual(['one.txt', 'two.txt'])
})

it('a file whose name has characters that no name may have is uploaded without them, and shown so', async () => {
  const { uploads, list, conversation_id } = await startUploads()
  uploads.add(conversation_id, [fileOf('inv\u202Egpj.exe')])
  await waitForView(list, areReady)
  expect(list.getSnapshot()).toMatchObject([{ name: 'invgpj.exe', attachment: { name: 'invgpj.exe' } }])
})

it('an upload that fails stays, and goes on when it is retried; drafts are apart', async () => {
  const { uploads, list, network, conversation_id } = await startUploads()
  const other = uploads.list(conversation_id, 'other')
  network.before = (call) => {
    if (call.startsWith('PUT')) network.isOffline = true
  }
  uploads.add(conversation_id, [fileOf('one.txt')])
  const [failed] = await waitForView(list, ([upload]) => upload?.status === 'failed')
  expect(failed).toMatchObject({
    name: 'one.txt',
    attachment: { status: 'uploading' },
    error: new TypeError('fetch failed'),
  })
  expect(uploads.take(conversation_id)).toEqual([])
  network.before = () => {}
  network.isOffline = false
  uploads.add(conversation_id, [fileOf('two.txt')], 'other')
  uploads.retry(failed!.key)
  uploads.retry(failed!.key)
  const [ready] = await waitForView(list, areReady)
  expect(ready).toMatchObject({ attachment: { id: failed!.attachment!.id, status: 'ready' } })
  expect(ready!.error).toBeUndefined()
  await waitForView(other, areReady)
  expect(uploads.take(conversation_id, 'other').map(({ name }) => name)).toEqual(['two.txt'])
  expect(list.getSnapshot().length).toBe(1)
})

it('a removed file is removed from the service, and those of another user are forgotten', async () => {
  const { uploads, list, ada, store, conversation_id } = await startUploads()
  uploads.add(conversation_id, [fileOf('one.txt'), fileOf('two.txt')])
  const [one, two] = await waitForView(list, areReady)
  uploads.remove(one!.key)
  uploads.remove(one!.key)
  expect(list.getSnapshot()).toEqual([two])
  await expect.poll(() => ada.attachments.get(one!.attachment!.id).catch(({ code }) => code)).toBe('not_found')
  expect(await ada.attachments.get(two!.attachment!.id)).toMatchObject({ attachment: { status: 'ready' } })
  store.restart()
  expect(list.getSnapshot()).toEqual([])
})

it('a message has at most ten files', async () => {
  const { uploads, list, conversation_id } = await startUploads()
  uploads.add(
    conversation_id,
    Array.from({ length: 9 }, (_, n) => fileOf(`${n}`)),
  )
  expect(() => uploads.add(conversation_id, [fileOf('a'), fileOf('b')])).toThrow(RangeError)
  expect(list.getSnapshot().length).toBe(9)
  await waitForView(list, areReady)
})
