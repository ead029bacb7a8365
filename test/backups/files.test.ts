import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Decrypter, generateX25519Identity, identityToRecipient } from 'age-encryption'
import { describe, expect, it, onTestFinished } from 'vitest'
import { judgeFiles } from '../../cli/doctor/backups.ts'
import { deriveFilesKey, toIdentity } from '../../lib/backups/files-key.ts'
import { sealed } from '../../lib/backups/sealed.ts'
import { findState } from '../../lib/backups/store.ts'
import { sweepFiles } from '../../lib/chat/attachments/sweep.ts'
import { SECOND } from '../../lib/core/units.ts'
import { openFileStoreIn } from '../../lib/files/file-store.ts'
import { parseConfig } from '../../lib/index.ts'
import { createFolder } from '../../lib/storage/objects/fs.ts'
import { bytesFor, bytesOf, memoryFiles, upload } from '../chat/attachments/files.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { MEMORY } from '../support/memory.ts'
import { innerState, startService } from '../support/service.ts'

describeOnEachDatabase('backups with files', (openUrl) => {
  it('share the files, delete those that no kept one names, and stay whole when files fail', async () => {
    const target = mkdtempSync(join(MEMORY, 'chat-backups-'))
    onTestFinished(() => rmSync(target, { recursive: true, force: true }))
    let clock = Date.now() * 1000
    const files = memoryFiles()
    const config = { attachments: { enabled: true, grace_hours: 0 }, backup: { target, keep: 2, files: true } }
    const service = await startService(await openUrl(), {
      config,
      ports: { now: () => clock },
      wrap: (storage) => ({ ...storage, files }),
    })
    onTestFinished(() => service.close())
    const context = innerState(service)
    const ada = await service.signIn('ada')
    const bytes = await bytesFor(service, ada)
    const place = (await ada.conversations.create({ title: 'Files' })).conversation_id
    const backUp = () => {
      clock += SECOND
      return context.backups.run()
    }
    const kept = await upload(ada, bytes, place, { content: bytesOf(10, 'kept') })
    const removed = await upload(ada, bytes, place, { content: bytesOf(10, 'removed') })
    await ada.messages.postRoot(place, { content: '', attachment_ids: [kept] })

    expect((await backUp()).files).toMatchObject({ files: 2, parts: 2, bytes: 20, missing: 0, deleted: 0 })
    const { owner } = (await findState(context.db))!
    const saved = () => readdirSync(join(target, `files-${owner}`)).length
    expect((await backUp()).files).toMatchObject({ files: 2, parts: 0, deleted: 0 })

    await ada.attachments.remove(removed)
    clock += SECOND
    await sweepFiles(context, { after: '' })
    // The two kept backups have it still, then one of them, then none.
    expect([(await backUp()).files!.deleted, saved()]).toEqual([0, 2])
    expect([(await backUp()).files!.deleted, saved()]).toEqual([0, 2])
    expect([(await backUp()).files!.deleted, saved()]).toEqual([1, 1])
    expect(readdirSync(join(target, `released-${owner}`))).toEqual([])

    const judged = async () => judgeFiles(parseConfig(config), await findState(context.db)).map(({ code }) => code)
    expect(await judged()).toEqual(['backup.files'])
    const { getItemRaw } = files
    await upload(ada, bytes, place, { content: bytesOf(10, 'later') })
    files.getItemRaw = () => Promise.reject(new Error('unplugged'))
    expect(await backUp()).toMatchObject({ files_error: expect.stringContaining('unplugged') })
    expect(readdirSync(target).filter((name) => name.startsWith('chat-server-'))).toHaveLength(2)
    expect(await judged()).toEqual(['backup.files_missing'])
    files.getItemRaw = getItemRaw
    expect((await backUp()).files).toMatchObject({ files: 2, parts: 1 })

    files.kept.clear()
    rmSync(join(target, `files-${owner}`), { recursive: true })
    expect(await backUp()).toMatchObject({
      files: { missing: 2 },
      files_error: expect.stringContaining('lacks 2 files'),
    })
  })
})

it('a backup without files is noticed', () => {
  const { attachments, backup } = parseConfig({ attachments: { enabled: true } })
  expect(judgeFiles({ attachments, backup }, undefined)).toMatchObject([{ code: 'backup.no_files', severity: 'note' }])
})

describe('the files of encrypted backups', () => {
  const place = () => {
    const path = mkdtempSync(join(MEMORY, 'chat-sealed-'))
    onTestFinished(() => rmSync(path, { recursive: true, force: true }))
    return { path, objects: createFolder(path) }
  }
  const stored = (path: string, key: string) => readFileSync(join(path, key))
  const id = '01a20ec6-057b-7fe8-8bb3-eb06d03bd15d'

  it.each([0, 1, 65_535, 65_536, 65_537, 200_000, 4 * 1024 * 1024])('have their size: %i bytes', async (size) => {
    const { path, objects } = place()
    const key = (await deriveFilesKey({ passphrase: 'a long random text' }, 'owner'))!
    const files = openFileStoreIn(sealed(objects, key))
    const content = bytesOf(size, 'the secret of a file')
    await files.put(`${id}/1`, content)
    expect(await files.sizes(id)).toEqual(new Map([[1, size]]))
    expect(await sealed(objects, key).head(`${id}/1`)).toEqual({ key: `${id}/1`, bytes: size })
    expect(content.equals((await files.get(`${id}/1`))!)).toBe(true)
    expect(stored(path, `${id}/1`).toString('latin1', 0, 21)).toBe('age-encryption.org/v1')
    expect(size > 16 && stored(path, `${id}/1`).includes(content.subarray(0, 16))).toBe(false)
  })

  it('are read with the key of the backup only, and are as age makes them', async () => {
    const identity = await generateX25519Identity()
    const recipient = await identityToRecipient(identity)
    const writing = (await deriveFilesKey({ recipient }, 'owner'))!
    const { path, objects } = place()
    await openFileStoreIn(sealed(objects, writing)).put(`${id}/1`, Buffer.from('hello'))
    const reading = (await deriveFilesKey({ identity }, 'another'))!
    expect([writing.identity, reading.fingerprint]).toEqual([undefined, writing.fingerprint])
    expect(await openFileStoreIn(sealed(objects, reading)).get(`${id}/1`)).toEqual(new Uint8Array(Buffer.from('hello')))
    const decrypter = new Decrypter()
    decrypter.addIdentity(identity)
    expect(await decrypter.decrypt(new Uint8Array(stored(path, `${id}/1`)), 'text')).toBe('hello')
    const other = (await deriveFilesKey({ identity: await generateX25519Identity() }, 'owner'))!
    await expect(openFileStoreIn(sealed(objects, other)).get(`${id}/1`)).rejects.toMatchObject({
      cause: { message: expect.stringContaining('another passphrase or key') },
    })
    await expect(openFileStoreIn(sealed(objects, writing)).get(`${id}/1`)).rejects.toThrow()
  })

  it('have a key of their owner and passphrase, which age takes', async () => {
    const keyOf = (passphrase: string, owner: string) => deriveFilesKey({ passphrase }, owner)
    const [one, same, other, elsewhere] = await Promise.all([
      keyOf('a long random text', 'owner'),
      keyOf('a long random text', 'owner'),
      keyOf('another random text', 'owner'),
      keyOf('a long random text', 'other'),
    ])
    expect(one).toEqual(same)
    expect(new Set([one, other, elsewhere].map((key) => key!.fingerprint)).size).toBe(3)
    expect(await deriveFilesKey({}, 'owner')).toBeUndefined()
    for (const secret of [Buffer.alloc(32), Buffer.alloc(32, 255), Buffer.from('0123456789abcdef0123456789abcdef')])
      expect(await identityToRecipient(toIdentity(secret))).toMatch(/^age1/)
  })
})
