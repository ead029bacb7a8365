import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createStorage } from 'unstorage'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type FileStore, MAX_VALUE_BYTES, openFileStore } from '../../lib/files/file-store.ts'
import { mountSmall } from '../fault/storage/mounts.ts'
import { startBucket, type TestBucket } from '../support/s3.ts'

const folder = mkdtempSync(join(tmpdir(), 'chat-files-'))
let bucket: TestBucket
beforeAll(async () => {
  bucket = await startBucket()
})
afterAll(async () => {
  await bucket.close()
  rmSync(folder, { recursive: true })
})

const env = () => ({
  AWS_ACCESS_KEY_ID: bucket.options.access_key_id,
  AWS_SECRET_ACCESS_KEY: bucket.options.secret_access_key,
})
const address = (prefix: string) =>
  `s3://chat/${prefix}?endpoint=${encodeURIComponent(bucket.options.endpoint!)}&region=${bucket.options.region}`

const newKey = (part = 1) => `${randomUUID()}/${part}`

async function keysOf(store: FileStore): Promise<string[]> {
  const keys: string[] = []
  for await (const key of store.keys()) keys.push(key)
  return keys.sort()
}

describe.each<[string, () => FileStore]>([
  ['a folder', () => openFileStore(`fs:${mkdtempSync(join(folder, 'store-'))}`)],
  ['a bucket', () => openFileStore(address(randomUUID()), { env: env() })],
  ['a storage of the host', () => openFileStore(createStorage())],
])('files in %s', (_, open) => {
  it("are copies: their bytes are the caller's again after it has put them", async () => {
    const store = open()
    const [key, bytes] = [newKey(), Buffer.alloc(100_000, 'a')]
    await store.put(key, bytes)
    bytes.fill('b')
    expect(Buffer.from((await store.get(key))!).equals(Buffer.alloc(100_000, 'a'))).toBe(true)
    // Its pieces are those of a file in parts of 4 MiB.
    expect(MAX_VALUE_BYTES % store.piece_bytes).toBe(0)
    await store.close()
  })

  it('are put, read, replaced, listed and removed', async () => {
    const store = open()
    const [key, other] = [newKey(1), newKey(2)]
    const largest = Buffer.alloc(MAX_VALUE_BYTES, 'a')
    await store.put(key, largest)
    await store.put(other, Buffer.from([0, 255, 10]))
    expect(largest.equals((await store.get(key))!)).toBe(true)
    await store.put(key, Buffer.from('true'))
    expect(Buffer.from((await store.get(key))!).toString()).toBe('true')
    expect([...(await store.get(other))!]).toEqual([0, 255, 10])
    const part = async (range: object) => Buffer.from((await store.get(key, range))!).toString()
    expect(await Promise.all([{ start: 1, end: 3 }, { end: 2 }, { start: 3, end: 9 }].map(part))).toEqual([
      'ru',
      'tr',
      'e',
    ])
    expect(await store.get(newKey(), { start: 1, end: 3 })).toBe(undefined)
    expect(await keysOf(store)).toEqual([key, other].sort())
    expect(await store.sizes(key.split('/')[0]!)).toEqual(new Map([[1, 4]]))
    expect(await store.sizes(randomUUID())).toEqual(new Map())
    await store.remove(key)
    await store.remove(key)
    expect([await store.get(key), await keysOf(store)]).toEqual([undefined, [other]])
    expect(await store.removeUnfinished()).toBe(0)
  })

  it('have keys of one form, and a maximum size', async () => {
    const store = open()
    for (const key of [
      '',
      'a/1',
      '../x/1',
      randomUUID(),
      `${randomUUID()}/0`,
      `${randomUUID()}/1/2`,
      `${randomUUID()}/01`,
    ])
      await expect(store.put(key, Buffer.from('a'))).rejects.toThrow('is not a key')
    await expect(store.put(newKey(), Buffer.alloc(MAX_VALUE_BYTES + 1))).rejects.toThrow('too long')
  })

  it('are unavailable once the store is closed', async () => {
    const store = open()
    const key = newKey()
    await store.put(key, Buffer.from('a'))
    await store.close()
    await expect(store.put(key, Buffer.from('b'))).rejects.toMatchObject({ code: 'unavailable' })
    await expect(store.get(key)).rejects.toMatchObject({ code: 'unavailable' })
  })
})

it('other values of a storage of the host are not listed', async () => {
  const storage = createStorage()
  await storage.setItem('settings', 'a')
  const store = openFileStore(storage)
  await store.put(newKey(), Buffer.from('a'))
  expect((await keysOf(store)).length).toBe(1)
})

it('a value that is longer than any part is not read as a whole', async () => {
  const path = mkdtempSync(join(folder, 'store-'))
  const store = openFileStore(`fs:${path}`)
  const key = newKey()
  await store.put(key, Buffer.from('a'))
  writeFileSync(join(path, key), Buffer.alloc(MAX_VALUE_BYTES + 10))
  await expect(store.get(key)).rejects.toMatchObject({ code: 'unavailable', status: 503 })
})

it('a full disk is storage_full, leaves nothing, and is written to again when there is room', async ({ skip }) => {
  const mount = mountSmall(8)
  if (!mount) return skip('Only root can mount a small file system here.')
  onTestFinished(() => mount.remove())
  const store = openFileStore(`fs:${join(mount.path, 'files')}`)
  const [first, second] = [newKey(), newKey()]
  await store.put(first, Buffer.alloc(1000, 1))
  const free = mount.fill()
  await expect(store.put(second, Buffer.alloc(MAX_VALUE_BYTES))).rejects.toMatchObject({
    code: 'storage_full',
    status: 507,
  })
  await expect(store.put(first, Buffer.alloc(MAX_VALUE_BYTES))).rejects.toMatchObject({ code: 'storage_full' })
  expect(await store.get(first)).toEqual(Buffer.alloc(1000, 1))
  free()
  await store.put(second, Buffer.alloc(MAX_VALUE_BYTES, 2))
  expect(await keysOf(store)).toEqual([first, second].sort())
})

describe('a place that is away', () => {
  it('is unavailable, and so is a folder that is a file', async () => {
    const path = join(folder, 'a-file')
    writeFileSync(path, 'a')
    const away = 's3://chat?endpoint=http://127.0.0.1:9&region=x'
    for (const store of [openFileStore(away, { env: env() }), openFileStore(`fs:${path}`)]) {
      await expect(store.put(newKey(), Buffer.from('a'))).rejects.toMatchObject({
        code: 'unavailable',
        status: 503,
        retry_after_seconds: 5,
        cause: expect.any(Error),
      })
    }
    expect(readFileSync(path, 'utf8')).toBe('a')
  })

  it.each([
    [507, 'storage_full'],
    [500, 'unavailable'],
    [403, 'unavailable'],
  ])('answers %i: %s, and comes back', async (status, code) => {
    const store = openFileStore(address('trouble'), { env: env() })
    const key = newKey()
    bucket.trouble = () => status
    onTestFinished(() => {
      bucket.trouble = () => undefined
    })
    await expect(store.put(key, Buffer.from('a'))).rejects.toMatchObject({ code })
    bucket.trouble = () => undefined
    await store.put(key, Buffer.from('a'))
    expect(Buffer.from((await store.get(key))!).toString()).toBe('a')
  })

  it('is not waited for when the store is closed', async () => {
    const store = openFileStore(address('hanging'), { env: env() })
    let isAsked: () => void
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve
    })
    bucket.trouble = () => {
      isAsked()
      return 'hang'
    }
    onTestFinished(() => {
      bucket.trouble = () => undefined
    })
    const put = expect(store.put(newKey(), Buffer.from('a'))).rejects.toMatchObject({ code: 'unavailable' })
    await asked
    await store.close()
    await put
  })
})

it.each([
  ['files', 'begins with fs: or s3://'],
  ['fs:', 'begins with'],
  ['s3://', 'not of the form'],
  ['s3://user:secret@chat', 'not of the form'],
  ['s3://chat?endpiont=x', 'no endpiont'],
])('%j is no place', (target, message) => {
  expect(() => openFileStore(target, { env: env() })).toThrow(message)
})

it('a bucket needs keys, and never shows them', () => {
  expect(() => openFileStore('s3://chat', { env: {} })).toThrow('set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY')
  expect(openFileStore(address('some/where'), { env: env() }).place).toBe('s3://chat/some/where/')
})
