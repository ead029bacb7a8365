import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { checkDisks } from '../../../cli/doctor/disks.ts'
import { parseConfig } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { bytesFor, startWithFiles, upload } from '../../chat/attachments/files.ts'
import { mountSmall } from '../../fault/storage/mounts.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState } from '../../support/service.ts'
import { folder as newFolder } from '../process.ts'
import { runDoctor } from '../run-checks.ts'

const LONG = { timeout: 120_000 }

/** A service with one file of a message. */
async function start(url: string) {
  const service = await startWithFiles(url, { config: { cluster: { beat_seconds: 1 } } })
  onTestFinished(() => service.close())
  const ada = await service.signIn('ada')
  const { conversation_id } = await ada.conversations.create({ title: 'Files' })
  await upload(ada, await bytesFor(service, ada), conversation_id)
  const doctor = async (storage = `fs:${service.folder}`) =>
    runDoctor({ server: { port: 9 }, database: { url }, attachments: { enabled: true, storage } })
  return { ...service, doctor }
}

/** Resolves when the row of a node has what it has found of the storage of files. */
function untilNoted(node: object, files: string): Promise<void> {
  const read = () =>
    innerState(node).cluster.db.get<{ files: string }>(
      sql`SELECT files FROM nodes WHERE id = ${innerState(node).cluster.id}`,
    )
  return expect.poll(async () => (await read())?.files).toBe(files)
}

describeOnEachDatabase('the doctor, of the storage of files,', (openUrl) => {
  it('reports a storage of files that is missing, and names the node that does find it', LONG, async () => {
    const { chat, folder, doctor } = await start(await openUrl())
    await untilNoted(chat, 'own')
    const found = await doctor(`fs:${newFolder()}`)
    const finding = found.get('attachments.missing')
    expect(finding).toMatchObject({ severity: 'error', remedy: expect.stringContaining('Mount its disk') })
    expect(finding?.message).toContain(`The node on ${hostname()} (process ${process.pid}) does find them`)

    renameSync(folder, `${folder}-away`)
    onTestFinished(() => renameSync(`${folder}-away`, folder))
    await innerState(chat).files.place.inspect()
    await untilNoted(chat, 'missing')
    const nowhere = await doctor(`fs:${newFolder()}`)
    expect(nowhere.get('attachments.missing')?.message).toMatch(/Reads and uploads are 503\.$/)
  })

  it('reports a storage of files that another node misses', LONG, async () => {
    const { chat, folder, doctor } = await start(await openUrl())
    expect([...(await doctor()).keys()]).not.toContain('attachments.missing_elsewhere')
    renameSync(folder, `${folder}-away`)
    onTestFinished(() => renameSync(`${folder}-away`, folder))
    await innerState(chat).files.place.inspect()
    await untilNoted(chat, 'missing')
    const found = await doctor(`fs:${folder}-away`)
    expect(found.get('attachments.missing_elsewhere')).toMatchObject({
      severity: 'error',
      message: expect.stringContaining(`The node on ${hostname()} (process ${process.pid}) does not find the files`),
    })
    expect(found.get('attachments.storage')).toMatchObject({ severity: 'ok' })
  })

  it('reports a storage of files that belongs to another database', LONG, async () => {
    const { chat, doctor } = await start(await openUrl())
    expect([...(await doctor()).keys()]).not.toContain('attachments.shared')
    await innerState(chat).db.run(sql`UPDATE meta SET value = 'of the copy' WHERE name = 'epoch'`)
    expect((await doctor()).get('attachments.shared')).toMatchObject({
      severity: 'warning',
      remedy: expect.stringContaining('chat-server attachments adopt'),
    })
  })
})

describeOnEachDatabase('the doctor, of the place of the backups,', (openUrl) => {
  it('reports a place of the backups that is missing once its disk is not mounted', LONG, async () => {
    const url = await openUrl()
    const target = join(newFolder(), 'backups')
    const backup = { schedule: '1d', target }
    const service = await startWithFiles(url, { config: { backup } })
    onTestFinished(() => service.close())
    const doctor = () => runDoctor({ server: { port: 9 }, database: { url }, backup }, { readOnly: true })
    await innerState(service).backups.run()
    expect((await doctor()).get('backup.target')).toMatchObject({ severity: 'ok' })
    renameSync(target, `${target}-away`)
    expect((await doctor()).get('backup.target_missing')).toMatchObject({ severity: 'error' })
    mkdirSync(target)
    expect((await doctor()).get('backup.target_missing')).toMatchObject({
      severity: 'error',
      message: `${target} has none of the backups that were stored there: no further one is made.`,
    })
    rmSync(target, { recursive: true })
    renameSync(`${target}-away`, target)
    expect((await doctor()).get('backup.target')).toMatchObject({ severity: 'ok' })
  })
})

describeOnEachDatabase('the doctor, of the disks,', (openUrl) => {
  it('reports the disks of files and of backups, each once, whatever the database', LONG, async ({ skip }) => {
    const mount = mountSmall(20)
    if (!mount) return skip('This user may mount no disk')
    onTestFinished(mount.remove)
    const [files, backups] = ['files', 'backups'].map((name) => join(mount.path, name)) as [string, string]
    const url = await openUrl()
    const doctor = (config: object) =>
      runDoctor({ server: { port: 9 }, database: { url }, ...config }, { readOnly: true })
    const attachments = { enabled: true, storage: `fs:${files}` }
    // A folder that does not exist is on no disk yet.
    expect([...(await doctor({ attachments })).keys()]).not.toContain('disk.full')
    mkdirSync(files)
    mkdirSync(backups)
    const both = { attachments, backup: { target: backups } }
    expect((await doctor(both)).get('disk.full')).toMatchObject({
      severity: 'error',
      message: `20 MiB are free in ${files}.`,
    })
    expect((await doctor({ backup: { target: backups } })).get('disk.full')?.message).toBe(
      `20 MiB are free in ${backups}.`,
    )
    const findings = await checkDisks(parseConfig({ database: { url }, ...both }))
    expect(findings.map(({ code }) => code)).toEqual(['disk.full'])
  })
})
