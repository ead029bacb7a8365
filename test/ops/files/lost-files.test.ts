import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { DAY } from '../../../lib/core/units.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { type Bytes, bytesFor, bytesOf, startWithFiles, upload } from '../../chat/attachments/files.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, type Person, type TestService } from '../../support/service.ts'

type Started = TestService & { folder: string }

interface Story {
  service: Started
  ada: Person
  bytes: Bytes
  place: string
  /** Uploads a file into a message. */
  post(seed: string): Promise<{ id: string; message_id: string }>
  status(id: string): Promise<string>
  /** The bytes of a file as its readers get them; else the status of the answer. */
  read(id: string): Promise<string | number>
  later(micros: number): void
}

async function begin(url: string): Promise<Story> {
  let clock = Date.now() * 1000
  const service = await startWithFiles(url, {
    ports: { now: () => clock },
    config: { session: { idle_seconds: 30_000_000, absolute_seconds: 30_000_000 } },
  })
  onTestFinished(() => service.close())
  const ada = await service.signIn('ada')
  const bytes = await bytesFor(service, ada)
  const place = (await ada.conversations.create({ title: 'Files' })).conversation_id
  return {
    service,
    ada,
    bytes,
    place,
    async post(seed) {
      const id = await upload(ada, bytes, place, { content: bytesOf(64, seed) })
      const { message_id } = await ada.messages.postRoot(place, { content: seed, attachment_ids: [id] })
      return { id, message_id }
    },
    status: async (id) => (await ada.attachments.get(id)).attachment.status,
    async read(id) {
      const response = await bytes.read(`/api/attachments/${id}/content`)
      return response.ok ? Buffer.from(await response.arrayBuffer()).toString('hex') : response.status
    },
    later(micros) {
      clock += micros
    },
  }
}

const hexOf = (seed: string) => bytesOf(64, seed).toString('hex')

const folderOf = async ({ service }: Story, id: string) => {
  const row = await innerState(service).db.get<{ blob_id: string }>(
    sql`SELECT blob_id FROM attachments WHERE id = ${id}`,
  )
  return join(service.folder, row!.blob_id)
}

describeOnEachDatabase('the repair of a storage of files', (openUrl) => {
  it('that is missing changes nothing without the count, and marks all with it; the files come back with their disk', async () => {
    const story = await begin(await openUrl())
    const { folder, chat } = story.service
    const posted = [await story.post('one'), await story.post('two'), await story.post('three')]
    renameSync(folder, `${folder}-away`)
    mkdirSync(folder)
    for (const accept_loss of [undefined, 2, 4]) {
      const checked = await chat.ops.fsckFiles({ repair: true, ...(accept_loss && { accept_loss }) })
      expect(checked).toMatchObject({ files: 3, missing: 3, needs_consent: true })
      expect(checked.findings.some((each) => each.repaired)).toBe(false)
      expect(await story.status(posted[0]!.id)).toBe('ready')
    }
    const accepted = await chat.ops.fsckFiles({ repair: true, accept_loss: 3 })
    expect(accepted).toMatchObject({ missing: 3, findings: [{ name: 'file-bytes', count: 3, repaired: true }] })
    expect(await innerState(chat).files.place.inspect()).toBe('own')
    for (const { id } of posted) expect([await story.status(id), await story.read(id)]).toEqual(['gone', 404])
    expect((await story.ada.messages.get(posted[0]!.message_id)).attachments).toMatchObject([{ status: 'gone' }])
    expect((await chat.ops.fsck()).findings).toEqual([])
    // The empty disk is the storage from now on.
    const since = await story.post('since')
    expect(await story.read(since.id)).toBe(hexOf('since'))

    // The disk is found again, and its files are copied.
    cpSync(`${folder}-away`, folder, { recursive: true, filter: (path) => !path.endsWith('chat-server-storage') })
    await chat.ops.collectFiles({ now: true })
    const { stream_position } = await story.ada.conversations.get(story.place)
    expect(await chat.ops.recoverFiles()).toEqual({ recovered: 3 })
    for (const [n, { id }] of posted.entries()) expect(await story.read(id)).toBe(hexOf(['one', 'two', 'three'][n]!))
    expect((await story.ada.messages.get(posted[0]!.message_id)).attachments).toMatchObject([{ status: 'ready' }])
    for await (const { event } of story.ada.events.follow(story.place, { last_event_id: stream_position! }))
      if (event.type === 'attachment.changed') break
    expect((await chat.ops.fsckFiles({ read: true })).findings).toEqual([])
    expect((await chat.ops.fsck()).findings).toEqual([])
    expect(await chat.ops.recoverFiles()).toEqual({ recovered: 0 })
  })

  it('that is missing is a finding, with what to do, and no repair is advised', async () => {
    const story = await begin(await openUrl())
    const { folder, chat } = story.service
    await story.post('one')
    const marker = join(folder, 'chat-server-storage')
    writeFileSync(marker, '{ "storage": "other", "database": "other" }')
    const remedy = expect.stringContaining('"chat-server attachments adopt"')
    for (const repair of [false, true]) {
      const checked = await chat.ops.fsckFiles({ read: true, repair })
      expect(checked.findings).toMatchObject([{ name: 'file-storage', count: 1, remedy }])
      expect(checked.findings[0]!.examples[0]).toBe(`${folder}, which has the marker of another storage`)
      expect(checked).toMatchObject({ missing: 0 })
      expect(checked).not.toHaveProperty('needs_consent')
    }
    renameSync(folder, `${folder}-away`)
    for (const repair of [false, true]) {
      const { findings } = await chat.ops.fsckFiles({ repair })
      expect(findings.map(({ name }) => name)).toEqual(['file-storage', 'file-bytes'])
      expect(findings[0]!.examples[0]).toContain('which has no marker')
      expect(findings.map((each) => each.remedy).join()).not.toContain('--repair')
    }
  })

  it('comes back after its loss was accepted: it is adopted, and says what was stored elsewhere meanwhile', async () => {
    const story = await begin(await openUrl())
    const { folder, chat } = story.service
    const posted = [await story.post('one'), await story.post('two')]
    renameSync(folder, `${folder}-away`)
    await chat.ops.fsckFiles({ repair: true, accept_loss: 2 })
    const since = await story.post('since')
    renameSync(folder, `${folder}-new`)
    mkdirSync(folder)
    await expect(chat.ops.adoptFiles()).rejects.toMatchObject({ code: 'conflict' })
    rmSync(folder, { recursive: true })
    renameSync(`${folder}-away`, folder)
    expect(await innerState(chat).files.place.inspect()).toBe('missing')
    const elsewhere = { missing: 1, missing_ids: [since.id] }
    expect(await chat.ops.adoptFiles()).toMatchObject({ was: 'missing', recovered: 2, ...elsewhere })
    expect(await story.read(posted[0]!.id)).toBe(hexOf('one'))
    cpSync(`${folder}-new`, folder, { recursive: true, force: false })
    expect(await story.read(since.id)).toBe(hexOf('since'))
    expect((await chat.ops.fsckFiles({ read: true })).findings).toEqual([])
    expect(await chat.ops.adoptFiles()).toMatchObject({ was: 'own', recovered: 0, missing: 0 })
  })

  it('that goes away during the count marks none, however few are missing', async () => {
    const story = await begin(await openUrl())
    const { folder, chat } = story.service
    const posted = [await story.post('one'), await story.post('two')]
    let isAway = false
    const onProgress = () => {
      if (!isAway) renameSync(folder, `${folder}-away`)
      isAway = true
    }
    const checked = await chat.ops.fsckFiles({ repair: true, onProgress })
    expect(checked).toMatchObject({ missing: 1, needs_consent: true })
    renameSync(`${folder}-away`, folder)
    await innerState(chat).files.place.inspect()
    for (const { id } of posted) expect(await story.status(id)).toBe('ready')
    expect((await chat.ops.fsckFiles({ read: true, repair: true })).findings).toEqual([])
  })

  it('asks for the count with more than two files of which more than one in twenty are lost', async () => {
    const story = await begin(await openUrl())
    const { chat } = story.service
    const posted = [await story.post('a'), await story.post('b'), await story.post('c'), await story.post('d')]
    const lose = async (n: number) => rmSync(await folderOf(story, posted[n]!.id), { recursive: true })
    await lose(0)
    await lose(1)
    expect(await chat.ops.fsckFiles({ repair: true })).not.toHaveProperty('needs_consent')
    expect([await story.status(posted[0]!.id), await story.status(posted[2]!.id)]).toEqual(['gone', 'ready'])
    await lose(2)
    await lose(3)
    const third = await story.post('e')
    await rmSync(await folderOf(story, third.id), { recursive: true })
    expect(await chat.ops.fsckFiles({ repair: true })).toMatchObject({ missing: 3, needs_consent: true })
    expect(await story.status(third.id)).toBe('ready')
    expect(await chat.ops.fsckFiles({ repair: true, accept_loss: 3 })).not.toHaveProperty('needs_consent')
    expect(await story.status(third.id)).toBe('gone')
  })

  it('gives back the very bytes only, and none of what was deleted, erased or ran out', async () => {
    const story = await begin(await openUrl())
    const { chat } = story.service
    const { ada } = story
    const names = ['right', 'changed', 'deleted', 'left out', 'twice']
    const posted = []
    for (const name of names) posted.push(await story.post(name))
    const unattached = await upload(ada, story.bytes, story.place, { content: bytesOf(64, 'ran out') })
    const folders = await Promise.all([...posted.map(({ id }) => id), unattached].map((id) => folderOf(story, id)))
    for (const folder of folders) renameSync(folder, `${folder}-away`)
    await chat.ops.fsckFiles({ repair: true, accept_loss: 6 })
    const [right, changed, deleted, left, twice] = posted
    await ada.messages.remove(deleted!.message_id)
    await ada.messages.edit(left!.message_id, { content: 'left out', attachment_ids: [] })
    // The same bytes were uploaded again: they are stored once.
    const again = await story.post('twice')
    story.later(DAY + 1)
    for (const folder of folders) renameSync(`${folder}-away`, folder)
    writeFileSync(join(folders[1]!, '1'), bytesOf(64, 'another'))
    await chat.ops.collectFiles({ now: true })
    expect(await chat.ops.recoverFiles()).toEqual({ recovered: 2 })
    expect(await story.read(right!.id)).toBe(hexOf('right'))
    expect([await story.read(twice!.id), await story.read(again.id)]).toEqual([hexOf('twice'), hexOf('twice')])
    expect(await story.status(changed!.id)).toBe('gone')
    // A deleted message that is restored gets its file back later.
    await ada.messages.restore(deleted!.message_id)
    expect(await chat.ops.recoverFiles()).toEqual({ recovered: 1 })
    expect(await story.read(deleted!.id)).toBe(hexOf('deleted'))
    expect((await chat.ops.fsck()).findings).toEqual([])
  })

  it('keeps what it let go of for 30 days, whatever the grace, and not longer', async () => {
    const story = await begin(await openUrl())
    const { chat } = story.service
    const { id } = await story.post('kept')
    const folder = await folderOf(story, id)
    renameSync(folder, `${folder}-away`)
    await chat.ops.fsckFiles({ repair: true })
    renameSync(`${folder}-away`, folder)
    const { db } = innerState(chat)
    const released = async () => (await db.all(sql`SELECT id FROM blobs WHERE released_at IS NOT NULL`)).length
    story.later(29 * DAY)
    expect(await chat.ops.collectFiles({ now: true })).toMatchObject({ blobs: 0 })
    expect(await released()).toBe(1)
    story.later(DAY + 1)
    expect(await chat.ops.collectFiles()).toMatchObject({ blobs: 1, failed: 0 })
    expect([await released(), await story.status(id)]).toEqual([0, 'gone'])
    expect(await chat.ops.recoverFiles()).toEqual({ recovered: 0 })
    expect((await chat.ops.fsck()).findings).toEqual([])
  })

  it('leaves the grace of all else to "gc", and "gc" deletes it at once with now', async () => {
    const story = await begin(await openUrl())
    const { chat } = story.service
    const { id, message_id } = await story.post('in its grace')
    const folder = await folderOf(story, id)
    await story.ada.messages.edit(message_id, { content: 'without', attachment_ids: [] })
    expect(await chat.ops.collectFiles()).toMatchObject({ blobs: 0 })
    expect(await chat.ops.collectFiles({ dry_run: true, now: true })).toMatchObject({ blobs: 1 })
    expect(await chat.ops.collectFiles({ now: true })).toMatchObject({ blobs: 1, garbage: 0, bytes: 64 })
    expect(() => rmSync(folder, { recursive: true })).toThrow('ENOENT')

    // What is not there frees nothing.
    const other = await story.post('not there')
    rmSync(await folderOf(story, other.id), { recursive: true })
    await story.ada.messages.edit(other.message_id, { content: 'without', attachment_ids: [] })
    expect(await chat.ops.collectFiles({ now: true })).toMatchObject({ blobs: 1, bytes: 0 })
  })
})
