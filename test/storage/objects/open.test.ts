import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import fs from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { createStorage } from 'unstorage'
import fsLite from 'unstorage/drivers/fs-lite'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { MIB } from '../../../lib/core/units.ts'
import { createFolder } from '../../../lib/storage/objects/fs.ts'
import type { Objects } from '../../../lib/storage/objects/objects.ts'
import { openObjects } from '../../../lib/storage/objects/open.ts'
import { createBucket } from '../../../lib/storage/objects/s3.ts'
import { createUnstorageObjects } from '../../../lib/storage/objects/unstorage.ts'
import { toTemporaryPath } from '../../../lib/storage/temporary.ts'
import { startBucket, type TestBucket } from '../../support/s3.ts'

async function* chunks(size: number, count: number): AsyncGenerator<Uint8Array> {
  for (let n = 0; n < count; n++) yield Buffer.alloc(size, n + 1)
}

const all = async (bytes: AsyncIterable<Uint8Array> | undefined) => bytes && buffer(bytes)

/** What each place must do. @param leftovers the names of what is not complete */
function describePlace(name: string, skip: boolean, open: () => { objects: Objects; leftovers: () => string[] }): void {
  describe.skipIf(skip)(`objects in ${name}`, () => {
    it('are stored whole, read in parts, replaced and deleted', async () => {
      const { objects } = open()
      expect(await objects.put('one', chunks(1000, 3))).toBe(3000)
      expect(await objects.head('one')).toEqual({ key: 'one', bytes: 3000 })
      expect((await all(await objects.get('one')))!.equals(await buffer(chunks(1000, 3)))).toBe(true)
      expect(await all(await objects.get('one', { start: 999, end: 1000 }))).toEqual(Buffer.from([1, 2]))
      expect(await all(await objects.get('one', { start: 2998 }))).toEqual(Buffer.from([3, 3]))
      await objects.put('one', chunks(1, 1))
      expect(await all(await objects.get('one'))).toEqual(Buffer.from([1]))
      await objects.delete('one')
      await objects.delete('one')
      expect([await objects.head('one'), await objects.get('one')]).toEqual([undefined, undefined])
    })

    it('may be empty, and larger than a part', async () => {
      const { objects, leftovers } = open()
      expect(await objects.put('empty', chunks(1, 0))).toBe(0)
      expect(await all(await objects.get('empty'))).toEqual(Buffer.alloc(0))
      expect(await objects.put('large', chunks(3 * MIB, 7))).toBe(21 * MIB)
      expect((await all(await objects.get('large')))!.equals(await buffer(chunks(3 * MIB, 7)))).toBe(true)
      expect(leftovers()).toEqual([])
      await objects.delete('large')
    })

    it('are listed in pages, by prefix', async () => {
      const { objects } = open()
      const keys = ['a-1', 'a-2', 'a-3', 'a-4', 'a-5', 'b/c-1', 'b-2']
      for (const key of keys) await objects.put(key, chunks(key.length, 1))
      const found: string[] = []
      for (let after = ''; ; ) {
        const page = await objects.list('a-', { after, limit: 2 })
        found.push(...page.objects.map(({ key }) => key))
        if (page.next === undefined) break
        after = page.next
      }
      expect(found).toEqual(keys.slice(0, 5))
      expect((await objects.list('b/')).objects).toEqual([{ key: 'b/c-1', bytes: 5 }])
      const all: string[] = []
      for await (const key of objects.keys()) all.push(key)
      expect(all.sort()).toEqual([...keys].sort())
      expect(await objects.removeUnfinished()).toBe(0)
    })

    it('leave nothing when their source fails, or they are aborted', async () => {
      const { objects, leftovers } = open()
      async function* broken(): AsyncGenerator<Uint8Array> {
        yield* chunks(3 * MIB, 4)
        throw new Error('the source is broken')
      }
      await expect(objects.put('broken', broken())).rejects.toThrow('the source is broken')
      const abort = new AbortController()
      async function* endless(): AsyncGenerator<Uint8Array> {
        yield* chunks(3 * MIB, 4)
        abort.abort(new Error('stopped'))
        yield* chunks(3 * MIB, 100)
      }
      await expect(objects.put('endless', endless(), { signal: abort.signal })).rejects.toThrow('stopped')
      expect([await objects.head('broken'), await objects.head('endless'), leftovers()]).toEqual([
        undefined,
        undefined,
        [],
      ])
    })

    it.each(['', '../one', 'a/../b', '.hidden', 'a//b', 'a b', '/a'])('refuse the key %j', async (key) => {
      await expect(open().objects.put(key, chunks(1, 1))).rejects.toThrow('is not a key')
    })
  })
}

const folder = mkdtempSync(join(tmpdir(), 'chat-objects-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describePlace('a folder', false, () => {
  const path = mkdtempSync(join(folder, 'place-'))
  return { objects: createFolder(path), leftovers: () => readdirSync(path).filter((name) => name.startsWith('.')) }
})

it('folders that cannot have objects of a prefix are not read, and those of other users are passed over', async () => {
  const path = mkdtempSync(join(folder, 'place-'))
  const objects = createFolder(path)
  await objects.put('chat-1', chunks(1, 1))
  for (const name of ['lost+found', 'other', 'chat-other']) mkdirSync(join(path, name))
  // Root may read every folder, so the failure is made.
  const { readdir } = fs
  const replace = (by: typeof readdir) => {
    fs.readdir = by
    syncBuiltinESMExports()
  }
  onTestFinished(() => replace(readdir))
  replace((async (at: string, options: { withFileTypes: true; recursive?: boolean }) => {
    if (relative(path, at) === '' && !options.recursive) return readdir(at, options)
    throw Object.assign(new Error('Permission denied'), { code: at.includes('chat-other') ? 'EACCES' : 'EIO' })
  }) as unknown as typeof readdir)
  expect((await objects.list('chat-')).objects).toEqual([{ key: 'chat-1', bytes: 1 }])
})

it('a folder of a folder goes with its last object, and what a killed process was writing an hour after it', async () => {
  const path = mkdtempSync(join(folder, 'place-'))
  const objects = createFolder(path)
  await objects.put('blob/1', chunks(1, 1))
  await objects.put('blob/2', chunks(1, 1))
  const [old, young] = ['.1.old.partial', '.1.young.partial'].map((name) => join(path, 'blob', name))
  for (const partial of [old!, young!]) writeFileSync(partial, 'half')
  const twoHoursAgo = Date.now() / 1000 - 7200
  utimesSync(old!, twoHoursAgo, twoHoursAgo)
  expect(await objects.removeUnfinished({ dry_run: true })).toBe(1)
  expect(await objects.removeUnfinished()).toBe(1)
  expect(readdirSync(join(path, 'blob')).sort()).toEqual(['.1.young.partial', '1', '2'])
  rmSync(young!)
  await objects.delete('blob/1')
  expect(readdirSync(path)).toEqual(['blob'])
  await objects.delete('blob/2')
  expect(readdirSync(path)).toEqual([])
})

it('what a killed process of this machine was writing goes with the next object of its folder, or with the last one', async () => {
  const path = mkdtempSync(join(folder, 'place-'))
  const objects = createFolder(path)
  const ended = spawnSync(process.execPath, ['--version']).pid
  const leave = (id: string) => {
    const name = toTemporaryPath('.1').replace(/-\d+-\d+-/, `-${ended}-1-`)
    mkdirSync(join(path, id), { recursive: true })
    writeFileSync(join(path, id, name), 'half')
  }
  leave('one')
  await objects.put('one/1', chunks(1, 1))
  expect(readdirSync(join(path, 'one'))).toEqual(['1'])
  leave('one')
  leave('none')
  // An upload that ran out, of which no part was stored.
  for (const key of ['one/1', 'none/1']) await objects.delete(key)
  expect(readdirSync(path)).toEqual([])
})

it('objects are put into a folder while its last one is deleted', async () => {
  const objects = createFolder(mkdtempSync(join(folder, 'place-')))
  const turns = Array.from({ length: 50 }, async (_, n) => {
    await objects.put(`blob/${n}`, chunks(1, 1))
    await objects.delete(`blob/${n}`)
  })
  expect(await Promise.allSettled(turns)).not.toContainEqual(expect.objectContaining({ status: 'rejected' }))
})

describePlace('an unstorage storage in memory', false, () => ({
  objects: createUnstorageObjects(createStorage()),
  leftovers: () => [],
}))

describePlace('an unstorage storage of files', false, () => {
  const base = mkdtempSync(join(folder, 'unstorage-'))
  return { objects: createUnstorageObjects(createStorage({ driver: fsLite({ base }) })), leftovers: () => [] }
})

let bucket: TestBucket
beforeAll(async () => {
  bucket = await startBucket()
})
afterAll(() => bucket.close())

describePlace('a bucket', false, () => {
  bucket.objects.clear()
  return { objects: createBucket(bucket.options), leftovers: () => [...bucket.uploads.keys()] }
})

describe('a bucket in trouble', () => {
  const open = (options = {}) => createBucket({ ...bucket.options, ...options })
  const during = (trouble: TestBucket['trouble']) => {
    bucket.trouble = trouble
    onTestFinished(() => {
      bucket.trouble = () => undefined
    })
  }

  it('is asked again after a failure that may pass', async () => {
    const failed = new Set<string>()
    during((what) => {
      if (failed.has(what)) return undefined
      failed.add(what)
      return 503
    })
    expect(await open().put('large', chunks(3 * MIB, 4))).toBe(12 * MIB)
    expect([...failed].sort()).toEqual(['POST uploadId', 'POST uploads', 'PUT partNumber'])
    expect(bucket.objects.get('backups/large')!.length).toBe(12 * MIB)
  })

  it('leaves no parts when it fails for good', async () => {
    during((what) => (what === 'PUT partNumber' ? 500 : undefined))
    await expect(open().put('failed', chunks(3 * MIB, 4))).rejects.toThrow(
      'S3 answers 500 InternalError to PUT backups/failed',
    )
    expect([bucket.uploads.size, bucket.objects.has('backups/failed')]).toEqual([0, false])
  })

  it('is given up when it does not answer', async () => {
    during(() => 'hang')
    await expect(open({ timeout_ms: 50 }).head('one')).rejects.toThrow('does not answer: it takes too long')
  })

  it('has completed an upload whose answer was lost', async () => {
    let lost = 0
    during((what) => (what === 'POST uploadId' && lost++ === 0 ? 'lose' : undefined))
    expect(await open().put('lost', chunks(3 * MIB, 4))).toBe(12 * MIB)
    expect([lost, bucket.objects.get('backups/lost')!.length]).toEqual([2, 12 * MIB])
    during((what) => (what === 'POST uploadId' ? 404 : undefined))
    await expect(open().put('lost', chunks(3 * MIB, 5))).rejects.toThrow('S3 answers 404')
  })

  it('has time for a body, however long its answer takes besides', async () => {
    during((what) => (what === 'PUT object' ? sleep(1000).then(() => undefined) : undefined))
    expect(await open({ timeout_ms: 1 }).put('slow', chunks(3 * MIB, 1))).toBe(3 * MIB)
  })

  it.each([
    [301, 'PermanentRedirect', ''],
    [400, 'AuthorizationHeaderMalformed', '<Region>eu-west-9</Region>'],
  ])('in another region is named: %s %s', async (status, code, more) => {
    const server = createHttpServer((_, response) => {
      response.writeHead(status).end(`<Error><Code>${code}</Code>${more}</Error>`)
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const endpoint = `http://127.0.0.1:${(server.address() as { port: number }).port}`
    await expect(open({ endpoint }).list('')).rejects.toThrow(
      `S3 answers ${status} ${code} to GET the bucket: set backup.s3.region ${more ? '= "eu-west-9"' : 'to that of'}`,
    )
  })

  it('names the wrong key', async () => {
    await expect(open({ secret_access_key: 'wrong' }).list('')).rejects.toThrow(
      'S3 answers 403 SignatureDoesNotMatch to GET the bucket: correct backup.s3.secret_access_key',
    )
    await expect(open({ access_key_id: 'wrong' }).list('')).rejects.toThrow('correct backup.s3.access_key_id')
  })

  it('is opened with the keys of the configuration, or of the environment', async () => {
    const { endpoint, region, access_key_id, secret_access_key } = bucket.options
    const env = { AWS_ACCESS_KEY_ID: access_key_id, AWS_SECRET_ACCESS_KEY: secret_access_key }
    await openObjects('s3://chat/some/where/', { endpoint, region }, env).put('one', chunks(1, 1))
    expect(bucket.objects.has('some/where/one')).toBe(true)
    expect(() => openObjects('s3://chat', { endpoint, region }, {})).toThrow('s3://chat needs keys: set backup.s3')
  })
})

/** A real server, if it is installed: go install github.com/versity/versitygw/cmd/versitygw@latest */
const VERSITYGW = process.env.VERSITYGW ?? 'versitygw'
const hasGateway = spawnSync(VERSITYGW, ['--version']).status === 0
if (!hasGateway) console.warn('versitygw is not installed: S3 is tested with the server of the tests only')

describe.skipIf(!hasGateway)('versitygw', () => {
  let gateway: ChildProcess
  const keys = { access_key_id: 'gateway', secret_access_key: 'gateway-secret' }
  let port: number

  beforeAll(async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as { port: number }).port
    server.close()
    await once(server, 'close')
    mkdirSync(join(folder, 'gateway', 'chat'), { recursive: true })
    const args = ['--access', keys.access_key_id, '--secret', keys.secret_access_key, '--port', `127.0.0.1:${port}`]
    gateway = spawn(VERSITYGW, [...args, 'posix', join(folder, 'gateway')], { stdio: 'ignore' })
    while (!(await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined))) await sleep(50)
  })
  afterAll(() => void gateway.kill())

  describePlace('a bucket of versitygw', false, () => ({
    objects: createBucket({
      bucket: 'chat',
      prefix: `p-${Math.random().toString(36).slice(2)}`,
      endpoint: `http://127.0.0.1:${port}`,
      region: 'us-east-1',
      ...keys,
    }),
    leftovers: () => [],
  }))
})
