import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { checkStorage, judgeGone, judgeSize, judgeSpace } from '../../../cli/doctor/attachments.ts'
import { openStorage } from '../../../lib/index.ts'
import { filesInFolder } from '../../support/files-folder.ts'
import { folder } from '../process.ts'
import { runDoctor } from '../run-checks.ts'

it.each([
  ['attachments.size', 10, 0],
  ['attachments.size', 89, 100],
  ['attachments.nearly_full', 90, 100],
  ['attachments.full', 100, 100],
])('reports %s when files have %i bytes of %i', (code, bytes, most) => {
  expect(judgeSize(bytes, most).code).toBe(code)
})

it('reports that files are refused when the rest of the disk is kept from them', () => {
  expect(judgeSpace({ free: 100 }, 100)).toEqual([])
  expect(judgeSpace({ free: 99 }, 100)).toMatchObject([{ code: 'attachments.no_space', severity: 'warning' }])
})

it('reports how many files are gone', () => {
  expect(judgeGone(0)).toEqual([])
  expect(judgeGone(2)).toMatchObject([{ code: 'attachments.gone', severity: 'note' }])
})

it('reports whether a file can be stored, or why not, and leaves none behind', async () => {
  const { storage } = await filesInFolder()
  const path = storage.slice('fs:'.length)
  expect(await checkStorage(storage, false)).toMatchObject({ code: 'attachments.storage', severity: 'ok' })
  expect(readdirSync(path)).toEqual([])
  expect(await checkStorage(storage, true)).toMatchObject({ severity: 'skipped' })
  // It is left to the service, which may be another user.
  expect(await checkStorage(`${storage}/files`, false)).toMatchObject({ code: 'attachments.no_folder' })
  expect(readdirSync(path)).toEqual([])
  writeFileSync(join(path, 'file'), '')
  const found = await checkStorage(`${storage}/file`, false)
  expect(found).toMatchObject({ code: 'attachments.not_writable', message: expect.stringContaining('ENOTDIR') })
  expect(await checkStorage('s3://', false)).toMatchObject({ code: 'attachments.not_writable' })
})

it('reports nothing about files where the service stores none', async () => {
  const url = `sqlite:${join(folder(), 'chat.db')}`
  const storage = await openStorage({ database: url })
  await storage.migrate()
  await storage.close()
  const codes = async (attachments: object) =>
    [...(await runDoctor({ server: { port: 9 }, database: { url }, attachments })).keys()].filter((code) =>
      code.startsWith('attachments'),
    )
  expect(await codes({})).toEqual([])
  expect(await codes({ enabled: true })).toEqual(['attachments.size', 'attachments.no_folder'])
})
