import { expect, it, onTestFinished } from 'vitest'
import { type FileStore, openFileStore } from '../../lib/files/file-store.ts'
import { createFilesPlace } from '../../lib/files/guard.ts'
import { sql } from '../../lib/storage/sql.ts'
import { bytesFor, bytesOf, startWithFiles, upload } from '../chat/attachments/files.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { innerState } from '../support/service.ts'

describeOnEachDatabase('a place of files that goes away for a moment', (openUrl) => {
  /** A guard of a place with one file, whose store a test changes. */
  async function start(change: (store: FileStore) => Partial<FileStore>) {
    const service = await startWithFiles(await openUrl())
    onTestFinished(() => service.close())
    const { db } = innerState(service)
    const ada = await service.signIn('ada')
    const { conversation_id } = await ada.conversations.create({ title: 'Files' })
    const content = bytesOf(100)
    const id = await upload(ada, await bytesFor(service, ada), conversation_id, { content })
    const row = await db.get<{ blob_id: string }>(sql`SELECT blob_id FROM attachments WHERE id = ${id}`)
    const store = openFileStore(`fs:${service.folder}`)
    onTestFinished(() => store.close())
    const changed = { ...store, ...change(store) }
    const log = { debug() {}, info() {}, warn() {}, error() {} }
    const place = createFilesPlace({ db, open: async () => changed, log })
    expect(await place.inspect()).toBe('own')
    return { place, content, read: async () => (await place.files()).get(`${row!.blob_id}/1`) }
  }

  it('and is back when its marker is read has the file that was not found', async () => {
    let reads = 0
    const { read, content } = await start((store) => ({
      get: async (key, range) => (++reads === 1 ? undefined : store.get(key, range)),
    }))
    expect(Buffer.from((await read())!).equals(content)).toBe(true)
  })

  it('during a look that began before is missing, and not without that file', async () => {
    let isAway = false
    let end = () => {}
    let held: Promise<void> | undefined
    const { place, read } = await start((store) => ({
      get: async (key, range) => (isAway ? undefined : store.get(key, range)),
      async marker() {
        const marker = isAway ? undefined : await store.marker()
        const mine = held
        held = undefined
        await mine
        return marker
      },
    }))
    held = new Promise((resolve) => (end = resolve))
    const before = place.inspect()
    // It has read the marker.
    while (held) await new Promise((resolve) => setImmediate(resolve))
    isAway = true
    const reading = read()
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    end()
    expect(await before).toBe('own')
    await expect(reading).rejects.toMatchObject({ code: 'unavailable' })
    expect(place.isMissing()).toBe(true)
  })
})
