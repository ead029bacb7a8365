import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { judgeFiles } from '../../cli/doctor/backups.ts'
import { findState } from '../../lib/backups/store.ts'
import { sweepFiles } from '../../lib/chat/attachments/sweep.ts'
import { parseConfig } from '../../lib/index.ts'
import { bytesFor, bytesOf, memoryFiles, upload } from '../chat/attachments/files.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { MEMORY } from '../support/memory.ts'
import { startService } from '../support/service.ts'

const SECOND = 1_000_000

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
    const { context } = service.chat
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

it('a backup that is encrypted has no files, which would not be', () => {
  expect(() => parseConfig({ backup: { files: true, passphrase: 'a long random text' } })).toThrow(/backup\.files/)
  const { attachments, backup } = parseConfig({ attachments: { enabled: true } })
  expect(judgeFiles({ attachments, backup }, undefined)).toMatchObject([{ code: 'backup.no_files', severity: 'note' }])
})
