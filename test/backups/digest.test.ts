import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { digestBytes, findDigest, hashed, toDigestLine } from '../../lib/backups/digest.ts'
import type { Keys } from '../../lib/backups/packing.ts'
import { verifyBackup } from '../../lib/backups/verify.ts'
import { readDigest, writeBackup } from '../../lib/backups/write.ts'
import { openStorage } from '../../lib/index.ts'
import { sql } from '../../lib/storage/sql.ts'

const [ONE, TWO] = ['1', '2'].map((digit) => digit.repeat(64)) as [string, string]
const HAS_SHA256SUM = process.platform === 'linux'

async function* pieces(...all: (string | Buffer)[]) {
  yield* all.map((each) => Buffer.from(each))
}

it('a stream is hashed and measured while it is read', async () => {
  const read = hashed(pieces('ab', 'c'))
  expect(await digestBytes(read.bytes)).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  expect([read.sha256(), read.size()]).toEqual(['ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad', 3])
})

it.each([
  ['the only one, whatever the name', toDigestLine('old.db', ONE), ONE],
  ['that of standard output, after a note', `Written.\n${toDigestLine('-', ONE)}`, ONE],
  ['that of the file among several', toDigestLine('other.db', TWO) + toDigestLine('chat.db', ONE), ONE],
  ['that of the file read as binary', `${TWO}  a\n${ONE} *chat.db\n`, ONE],
  ['none among several others', toDigestLine('other.db', TWO) + toDigestLine('a.db', ONE), undefined],
  ['none in other texts', `${ONE.slice(1)}  chat.db\n`, undefined],
])('in the lines of sha256sum it finds %s', (_, lines, expected) => {
  expect(findDigest(lines, 'chat.db')).toBe(expected)
})

async function prepare(name = 'copy.db') {
  const folder = mkdtempSync(join(tmpdir(), 'chat-digest-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const storage = await openStorage({ database: `sqlite:${join(folder, 'chat.db')}` })
  onTestFinished(() => storage.close())
  await storage.migrate()
  const { db } = storage
  const file = join(folder, name)
  const copy = (path: string) => db.run(sql`VACUUM INTO ${path}`)
  const { signal } = new AbortController()
  const write = (options: { keys?: Keys; force?: boolean } = {}, to = file) =>
    writeBackup(db, to, { keys: {}, copy, signal, ...options })
  return { folder, file, write }
}

it.skipIf(!HAS_SHA256SUM).each(['copy.db', 'a name with \\ and\nlines.db'])('sha256sum checks %j', async (name) => {
  const { folder, file, write } = await prepare(name)
  const { sha256 } = await write()
  expect(readDigest(file)).toBe(sha256)
  execFileSync('sha256sum', ['-c', '--strict', '--status', `${basename(file)}.sha256`], { cwd: folder })
})

it('a digest is that of the file beside it, or is not there', async () => {
  const { folder, file, write } = await prepare()
  const first = await write()
  await expect(write()).rejects.toThrow('copy.db already exists')
  expect(readDigest(file)).toBe(first.sha256)
  // It was deleted without its digest.
  rmSync(file)
  const second = await write({ keys: { passphrase: 'twelve or more letters' } })
  expect(second.sha256).not.toBe(first.sha256)
  expect(readDigest(file)).toBe(second.sha256)
  await write({ force: true })
  expect(readDigest(file)).toBe(await digestBytes(pieces(readFileSync(file))))
  const other = join(folder, 'other.db')
  writeFileSync(`${other}.sha256`, 'notes')
  await expect(write({}, other)).rejects.toThrow('other.db.sha256 already exists; --force replaces it')
  expect(existsSync(other)).toBe(false)
  await write({ force: true }, other)
})

it('with a key a backup is encrypted, and its packing notices a changed byte', async () => {
  const { file, write } = await prepare()
  const keys = { passphrase: 'twelve or more letters' }
  await write({ keys })
  const bytes = readFileSync(file)
  expect(bytes.subarray(0, 18).toString()).toBe('age-encryption.org')
  const verify = (part: Buffer) => verifyBackup(pieces(part), keys)
  expect(await verify(bytes)).toMatchObject({ kind: 'sqlite', checked_by: 'packing' })
  const changed = Buffer.from(bytes)
  changed[bytes.length - 100]! ^= 1
  await expect(verify(changed)).rejects.toThrow('cut off or damaged')
})
