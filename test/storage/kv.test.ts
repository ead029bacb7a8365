import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createStorage, type Driver } from 'unstorage'
import fsLite from 'unstorage/drivers/fs-lite'
import memory from 'unstorage/drivers/memory'
import { afterAll, describe, expect, it } from 'vitest'
import { createKv, inMemory, type Kv } from '../../lib/storage/kv.ts'
import { times } from '../support/service.ts'

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

function createFolder(): string {
  folders.push(mkdtempSync(join(tmpdir(), 'chat-kv-')))
  return folders.at(-1)!
}

describe.each<[string, () => Driver]>([
  ['memory', () => memory()],
  ['fs-lite', () => fsLite({ base: createFolder() })],
])('the key-value store on %s', (_, driver) => {
  /** A store with a held clock. */
  function openKv() {
    const clock = { now: 1_000_000 }
    const storage = createStorage({ driver: driver() })
    return { kv: createKv(storage, () => clock.now), clock, storage }
  }

  it('returns several values at once, without those that are missing or expired', async () => {
    const { kv, clock } = openKv()
    await kv.set('old', 1, 1)
    await kv.set('a:b', { one: 1 }, 60)
    await kv.set('c', 'two', 60)
    clock.now += 1_000
    expect(await kv.getAll(['c', 'old', 'a:b', 'none'])).toEqual(
      new Map<string, unknown>([
        ['c', 'two'],
        ['a:b', { one: 1 }],
      ]),
    )
    expect(await kv.getAll([])).toEqual(new Map())
  })

  it('returns nothing for an unknown key', async () => {
    const { kv } = openKv()
    expect(await kv.get('key')).toBeUndefined()
    await kv.delete('key')
  })

  it.each([
    'true',
    'false',
    'null',
    '123',
    '0x10',
    '1e3',
    '',
    ' ',
    '"quoted"',
    '{"json":1}',
    'a\r\n\u2028😀',
    true,
    false,
    null,
    0,
    -1.5,
    Number.MAX_SAFE_INTEGER,
    [1, 'two', [null]],
    { nested: { list: ['true', 1] }, empty: {} },
  ])('returns %j unchanged', async (value) => {
    const { kv } = openKv()
    await kv.set('key', value, 60)
    expect(await kv.get('key')).toStrictEqual(value)
  })

  it('returns a copy', async () => {
    const { kv } = openKv()
    const value = { list: [1] }
    await kv.set('key', value, 60)
    value.list.push(2)
    const first = await kv.get<typeof value>('key')
    first!.list.push(3)
    expect(await kv.get('key')).toEqual({ list: [1] })
  })

  it('keeps keys apart, whatever characters they have', async () => {
    const { kv } = openKv()
    const keys = [
      ...['::1', '1', ':1', '1:', '0:0:0:0:0:0:0:1', 'a:b', 'a/b', 'a\\b', 'a/b:c?d', 'a/b:c', 'a?b', 'a#b', 'a', 'A'],
      ...[
        '__proto__',
        'constructor',
        'toString',
        '..',
        '../a',
        '/a',
        'a/',
        'a$',
        'a.meta',
        '%2e',
        'é',
        'e\u0301',
        '😀',
      ],
    ]
    await Promise.all(keys.map((key) => kv.set(key, `of ${key}`, 60)))
    expect(await Promise.all(keys.map((key) => kv.get(key)))).toEqual(keys.map((key) => `of ${key}`))
    await Promise.all(keys.slice(1).map((key) => kv.delete(key)))
    expect(await valuesOf(kv, keys)).toEqual(['of ::1'])
    expect(Object.prototype).not.toHaveProperty('value')
  })

  it('drops a value when it expires, not before', async () => {
    const { kv, clock, storage } = openKv()
    await kv.set('short', 1, 2)
    await kv.set('long', 2, 60)
    clock.now += 1_999
    expect(await valuesOf(kv, ['short', 'long'])).toEqual([1, 2])
    clock.now += 1
    expect(await valuesOf(kv, ['short', 'long'])).toEqual([2])
    expect(await storage.getKeys()).toHaveLength(1)
  })

  it('counts the time from the last value', async () => {
    const { kv, clock } = openKv()
    await kv.set('key', 'first', 10)
    clock.now += 9_000
    await kv.set('key', 'second', 10)
    clock.now += 9_000
    expect(await kv.get('key')).toBe('second')
    clock.now += 1_000
    expect(await kv.get('key')).toBeUndefined()
    await kv.set('key', 'third', 10)
    expect(await kv.get('key')).toBe('third')
  })

  it('accepts many keys at once', async () => {
    const { kv } = openKv()
    const keys = times(100, (index) => `user:${index}`)
    await Promise.all(keys.map((key, index) => kv.set(key, index, 60)))
    expect(await Promise.all(keys.map((key) => kv.get(key)))).toEqual(times(100, (index) => index))
  })

  it('returns one of the values set at once, or none, since a file may be incomplete', async () => {
    const { kv } = openKv()
    await Promise.all(times(20, (index) => kv.set('key', { index }, 60)))
    const value = await kv.get<{ index: number }>('key')
    expect([undefined, ...times(20, (index) => index)]).toContain(value?.index)
    await kv.set('key', 'whole', 60)
    expect(await kv.get('key')).toBe('whole')
  })

  it('leaves other entries in the same storage unchanged', async () => {
    const { kv, storage } = openKv()
    await storage.setItem('key', 'theirs')
    await kv.set('key', 'ours', 60)
    expect(await storage.getKeys()).toEqual(['key', expect.stringMatching(/^chat:/)])
    await kv.delete('key')
    expect(await storage.getItem('key')).toBe('theirs')
  })
})

describe('the key-value store in memory', () => {
  /** A store with a held clock; `count` returns how many of these keys are in memory, expired or not. */
  function open() {
    const clock = { now: 1_000_000 }
    const storage = inMemory(() => clock.now)
    const kv = createKv(storage, () => clock.now)
    const count = async (keys: string[]) => {
      const names = keys.map((key) => `chat:${Buffer.from(key).toString('hex')}`)
      return (await Promise.all(names.map((name) => storage.getItem(name)))).filter((item) => item !== null).length
    }
    return { kv, clock, count }
  }

  it('forgets expired values as further ones are stored, also those that no call reads', async () => {
    const { kv, clock, count } = open()
    const [short, long] = [times(200, (index) => `short ${index}`), times(200, (index) => `long ${index}`)]
    for (const key of short) await kv.set(key, 1, 60)
    for (const key of long) await kv.set(key, 1, 3_600)
    clock.now += 60_000
    expect(await count(short)).toBe(200)
    for (const _ of times(300, () => 0)) await kv.set('another', 1, 60)
    expect(await count(short)).toBe(0)
    expect(await count(long)).toBe(200)
  })

  it('keeps a value that is stored again when the earlier one has expired', async () => {
    const { kv, clock } = open()
    await kv.set('key', 'first', 60)
    clock.now += 60_000
    await Promise.all([kv.set('another', 1, 60), kv.set('key', 'second', 60), kv.set('another', 2, 60)])
    expect(await kv.get('key')).toBe('second')
    await kv.delete('key')
    await kv.set('key', 'third', 60)
    for (const _ of times(10, () => 0)) await kv.set('another', 1, 60)
    expect(await kv.get('key')).toBe('third')
  })
})

async function valuesOf(kv: Kv, keys: string[]): Promise<unknown[]> {
  const values = await Promise.all(keys.map((key) => kv.get(key)))
  return values.filter((value) => value !== undefined)
}
