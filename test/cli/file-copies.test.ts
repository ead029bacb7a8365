import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { expect, it } from 'vitest'
import { createChatService, OPERATOR, openStorage, parseConfig } from '../../lib/index.ts'
import { folder, run } from './process.ts'

const env = { CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4' }
const PART = 4 * 1024 * 1024

/** A database with a message that has a file of two parts, and one whose bytes are lost later. */
async function withFiles(): Promise<{ cwd: string; ids: string[]; stored: string }> {
  const cwd = folder()
  const ids = await post(cwd, { 'one.bin': PART + 5, 'two.bin': 10 })
  return { cwd, ids, stored: join(cwd, 'data', 'files') }
}

/** Posts a message with files. @returns their ids */
async function post(cwd: string, sizes: Record<string, number>): Promise<string[]> {
  const stored = join(cwd, 'data', 'files')
  const storage = await openStorage({ database: `sqlite:${join(cwd, 'data', 'chat.db')}` })
  const config = parseConfig({
    attachments: { enabled: true, storage: `fs:${stored}` },
    security: { password: { bcrypt_cost: 4 } },
  })
  const chat = createChatService(config, storage)
  await chat.start()
  const email = 'ada@example.org'
  const { user } = await chat.setup
    .run({ email, password: 'correct horse battery' })
    .catch(async () => ({ user: (await chat.users.list(OPERATOR)).users[0]! }))
  const actor = await chat.users.actor(user.id)
  const { conversation_id } = await chat.conversations.create(actor, { title: 'Files' })
  const upload = async (name: string, size: number) => {
    const { attachment, parts } = await chat.attachments.create(actor, conversation_id, { name, size })
    const bytes = Buffer.alloc(size, name)
    for (let n = 1; n <= parts; n++)
      await chat.attachments.putPart(actor, attachment.id, n, { bytes: bytes.subarray((n - 1) * PART, n * PART) })
    return attachment.id
  }
  const ids: string[] = []
  for (const [name, size] of Object.entries(sizes)) ids.push(await upload(name, size))
  await chat.messages.postRoot(actor, conversation_id, { content: '', attachment_ids: ids })
  await chat.close()
  return ids
}

const json = async (args: string[], cwd: string) => {
  const { code, stdout, stderr } = await run([...args, '--json'], { cwd, env })
  return { code, stderr, ...(stdout && { result: JSON.parse(stdout) }) }
}

it('a backup takes the files with it, only what is new, and a restored database has them', async () => {
  const { cwd, stored } = await withFiles()
  expect(await json(['fsck', '--files', '--read'], cwd)).toMatchObject({ code: 0, result: { files: 2, findings: [] } })
  const first = await json(['backup', 'one.db', '--files', 'saved'], cwd)
  expect(first).toMatchObject({ code: 0, result: { files: { files: 2, parts: 3, bytes: PART + 15, missing: 0 } } })
  const again = await json(['backup', 'two.db', '--files', 'saved'], cwd)
  expect(again.result.files).toMatchObject({ files: 2, parts: 0 })
  rmSync(join(cwd, 'data'), { recursive: true })
  const restored = await json(['restore', 'two.db', '--files', 'saved'], cwd)
  expect(restored).toMatchObject({ code: 0, result: { files: { files: 2, parts: 3, missing: 0 } } })
  expect(storedIn(stored)).toHaveLength(2)
  expect(await json(['fsck', '--files', '--read'], cwd)).toMatchObject({ code: 0, result: { files: 2, findings: [] } })
})

/** The files in a storage, which has a marker, too. */
function storedIn(folder: string): string[] {
  const names = readdirSync(folder)
  expect(names).toContain('chat-server-storage')
  return names.filter((name) => name !== 'chat-server-storage')
}

it('a restore without the files says that they are missing, and how they are marked as lost', async () => {
  const { cwd, ids } = await withFiles()
  await json(['backup', 'one.db', '--files', 'saved'], cwd)
  rmSync(join(cwd, 'data'), { recursive: true })
  const accept = 'fsck --files --repair --accept-loss 2'
  const restored = await json(['restore', 'one.db'], cwd)
  expect(restored).toMatchObject({ code: 0, stderr: expect.stringContaining(accept) })
  expect(existsSync(join(cwd, 'data', 'files'))).toBe(false)
  const counted = await json(['fsck', '--files', '--repair'], cwd)
  expect(counted).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('2 files are missing, of 2'),
    result: { missing_files: 2 },
  })
  expect(counted.stderr).toContain(accept)
  const shown = await run(['fsck', '--files'], { cwd, env })
  expect(shown).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/BROKEN {2}file-storage .*has no marker\n {2}→ Mount/),
  })
  expect(shown.stdout).not.toContain('--repair')
  expect(await json(accept.split(' '), cwd)).toMatchObject({ code: 0, result: { missing_files: 2 } })
  expect((await json(['attachments', 'stat'], cwd)).result).toMatchObject({ ready: 0, gone: 2 })

  // The files are found after all.
  const again = await json(['restore', 'one.db', '--force'], cwd)
  expect(again.stderr).toContain('--accept-loss 2')
  expect((await json(['restore', 'one.db', '--force', '--files', 'saved'], cwd)).result.files).toMatchObject({
    files: 2,
  })
  expect((await json(['attachments', 'stat'], cwd)).result).toMatchObject({ ready: ids.length, gone: 0 })
  expect(await json(['fsck', '--accept-loss', '2'], cwd)).toMatchObject({ code: 2 })
  expect((await json(['attachments', 'adopt'], cwd)).result).toMatchObject({ was: 'shared' })
  expect((await json(['attachments', 'gc', '--now'], cwd)).result).toMatchObject({ failed: 0 })
})

it('a disk that is back after its loss was accepted is adopted, and names what was stored since', async () => {
  const { cwd, stored } = await withFiles()
  renameSync(stored, `${stored}.away`)
  expect(await json(['fsck', '--files', '--repair', '--accept-loss', '2'], cwd)).toMatchObject({ code: 0 })
  const [since] = await post(cwd, { 'since.bin': 7 })
  renameSync(stored, `${stored}.new`)
  renameSync(`${stored}.away`, stored)
  const adopted = await run(['attachments', 'adopt'], { cwd, env })
  expect(adopted).toMatchObject({ code: 1, stderr: expect.stringContaining('2 files have their bytes again') })
  expect(adopted.stderr).toContain(`1 files are missing here, such as ${since}`)
  execFileSync('cp', ['-Rn', `${stored}.new/.`, `${stored}/`])
  expect(await json(['fsck', '--files', '--read'], cwd)).toMatchObject({ code: 0, result: { files: 3, findings: [] } })
  expect((await json(['attachments', 'stat'], cwd)).result).toMatchObject({ ready: 3, gone: 0 })
})

const passphrase = { CHAT_BACKUP__PASSPHRASE: 'twelve or more letters' }
const toFolder = { ...env, CHAT_BACKUP__TARGET: './backups', CHAT_BACKUP__FILES: 'true' }

/** A backup of the schedule, made now. @returns its name, and what was done with the files */
async function backUp(cwd: string, settings: Record<string, string> = {}) {
  const { stdout } = await run(['backup', 'run', '--json'], { cwd, env: { ...toFolder, ...settings } })
  return JSON.parse(stdout)
}

it.each([
  ['is not encrypted', {}],
  ['is encrypted with a passphrase', passphrase],
])(
  'a backup of the schedule that %s has the files, and a restore by its name brings them back',
  async (_, settings) => {
    const { cwd, stored } = await withFiles()
    const { name, files } = await backUp(cwd, settings)
    expect(files).toMatchObject({ files: 2, parts: 3, missing: 0 })
    expect((await backUp(cwd, settings)).files).toMatchObject({ files: 2, parts: 0 })
    rmSync(join(cwd, 'data'), { recursive: true })
    const restored = await run(['restore', name, '--json'], { cwd, env: { ...toFolder, ...settings } })
    expect(JSON.parse(restored.stdout).files).toMatchObject({ files: 2, parts: 3, missing: 0 })
    expect(storedIn(stored)).toHaveLength(2)
    expect(await json(['fsck', '--files', '--read'], cwd)).toMatchObject({
      code: 0,
      result: { files: 2, findings: [] },
    })
  },
)

it('a backup with another passphrase copies the files anew, and each restore takes those of its own', async () => {
  const { cwd } = await withFiles()
  const identity = await generateX25519Identity()
  writeFileSync(join(cwd, 'key.txt'), `${identity}\n`)
  const first = await backUp(cwd, passphrase)
  const second = await backUp(cwd, { CHAT_BACKUP__RECIPIENT: await identityToRecipient(identity) })
  expect([first, second].map(({ files }) => files.parts)).toEqual([3, 3])
  expect(readdirSync(join(cwd, 'backups')).filter((name) => name.startsWith('files-'))).toHaveLength(2)
  const restore = async (name: string, ...flags: string[]) => {
    const at = ['restore', name, '--force', '--json', '--database', 'sqlite:./other/chat.db', ...flags]
    const { stdout } = await run(at, { cwd, env: { ...toFolder, ...passphrase } })
    return JSON.parse(stdout).files ?? stdout
  }
  expect(await restore(first.name)).toMatchObject({ files: 2, missing: 0 })
  rmSync(join(cwd, 'other'), { recursive: true })
  expect(await restore(second.name)).toContain('was encrypted with another passphrase or key')
  expect(await restore(second.name, '--identity', 'key.txt')).toMatchObject({ files: 2, parts: 3, missing: 0 })
})

it('after a rotation, the backups made with a former passphrase are restored with their files', async () => {
  const { cwd } = await withFiles()
  const first = await backUp(cwd, passphrase)
  const rotated = {
    CHAT_BACKUP__PASSPHRASE: 'another long passphrase',
    CHAT_BACKUP__PREVIOUS_PASSPHRASES: 'one of years ago,twelve or more letters',
  }
  const second = await backUp(cwd, rotated)
  for (const { name } of [first, second]) {
    rmSync(join(cwd, 'data'), { recursive: true })
    const { stdout } = await run(['restore', name, '--json'], { cwd, env: { ...toFolder, ...rotated } })
    expect(JSON.parse(stdout).files).toMatchObject({ files: 2, parts: 3, missing: 0 })
  }
})

it('an archive is imported with its files, and what is missing shows as gone', async () => {
  const { cwd, stored } = await withFiles()
  expect((await json(['export', 'chat.jsonl', '--files', 'saved'], cwd)).result.files.parts).toBe(3)
  const [lost] = readdirSync(join(cwd, 'saved'))
  rmSync(join(cwd, 'saved', lost!, '1'))
  rmSync(stored, { recursive: true })
  const other = ['--database', 'sqlite:./other/chat.db']
  const imported = await json(['import', 'chat.jsonl', '--files', 'saved', ...other], cwd)
  expect(imported).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('lacks 1 files'),
    result: { files: { missing: 1 } },
  })
  expect((await json(['attachments', 'stat', ...other], cwd)).result).toMatchObject({ ready: 1, gone: 1 })
  // The size of all files is no part of an archive.
  expect(await json(['fsck', ...other], cwd)).toMatchObject({ code: 0 })
  // Without --repair, before a copy: both are reported, and neither is changed.
  const checked = await json(['fsck', '--files'], cwd)
  expect(checked).toMatchObject({
    code: 1,
    result: { findings: [{ name: 'file-storage' }, { name: 'file-bytes', count: 2 }] },
  })
})

it('bytes that nothing refers to are deleted, unless only counted', async () => {
  const { cwd } = await withFiles()
  expect((await json(['attachments', 'gc', '--dry-run'], cwd)).result).toEqual({
    dry_run: true,
    expired: 0,
    blobs: 0,
    garbage: 0,
    unfinished: 0,
    failed: 0,
  })
  const refused = await run(['fsck', '--read'], { cwd, env })
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--read is part of --files') })
})
