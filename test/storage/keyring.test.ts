import { randomBytes } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import { createLiveConfig } from '../../lib/config/live.ts'
import { type ConfigInput, parseConfig } from '../../lib/config/parse.ts'
import { readSigned, signText } from '../../lib/core/signed-text.ts'
import { DAY } from '../../lib/core/units.ts'
import { OPERATOR } from '../../lib/index.ts'
import type { Database } from '../../lib/storage/database.ts'
import { createKeyring, secretId } from '../../lib/storage/keyring.ts'
import { openStorage } from '../../lib/storage/open.ts'
import { findServiceId, insertNextSecret, promoteNextSecret, readSecret } from '../../lib/storage/secret.ts'
import { type Sql, sql } from '../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { innerState, startService } from '../support/service.ts'

const [FIRST, SECOND, THIRD] = [1, 2, 3].map(() => randomBytes(32).toString('base64')) as [string, string, string]

/** The use that the tests sign and seal for. */
const USE = 'test'

describeOnEachDatabase('the keys of a service', (openUrl) => {
  async function opened() {
    const storage = await openStorage({ database: await openUrl() })
    const clock = { now: 1_800_000_000_000_000 }
    const ring = (security: ConfigInput['security'] = {}) => {
      const live = createLiveConfig(parseConfig({ security }))
      const keyring = createKeyring({ config: live.view, db: storage.db, now: () => clock.now })
      return {
        ...keyring,
        reload: (next: ConfigInput['security']) => live.replace(parseConfig({ security: next })),
        sign: async (text: string) => signText(await keyring.signing(USE), text),
        read: async (token: string) => readSigned(await keyring.signing(USE), token),
      }
    }
    return { storage, clock, ring }
  }

  it('are in the database, unless one is configured, which then leaves the database alone', async () => {
    const { storage, ring } = await opened()
    const configured = ring({ secret_key: FIRST })
    await configured.sign('a')
    expect(await readSecret(storage.db)).toBeUndefined()
    const stored = ring()
    const token = await stored.sign('a')
    expect(await readSecret(storage.db)).toHaveLength(32)
    expect(await ring().read(token)).toBe('a')
    await storage.close()
  })

  it('are made once by processes that begin together', async () => {
    const { storage, ring } = await opened()
    const rings = Array.from({ length: 8 }, () => ring())
    const tokens = await Promise.all(rings.map(({ sign }) => sign('a')))
    expect(new Set(tokens).size).toBe(1)
    await storage.close()
  })

  it('open what the database, a former and the present key sealed, and seal with the present one', async () => {
    const { storage, ring } = await opened()
    const keys = ring()
    const sealed = [await keys.seal(USE, 'by the row', 'a 1')]
    keys.reload({ secret_key: FIRST })
    sealed.push(await keys.seal(USE, 'by the first', 'a 1'))
    keys.reload({ secret_key: SECOND, previous_secret_keys: [FIRST] })
    sealed.push(await keys.seal(USE, 'by the second', 'a 1'))
    expect(await Promise.all(sealed.map((text) => keys.open(USE, text, 'a 1')))).toEqual([
      ...['by the row', 'by the first', 'by the second'],
    ])
    expect(sealed[2]).toContain(`.${secretId(Buffer.from(SECOND, 'base64'))}.`)
    // Elsewhere, for another use, and without its key nothing opens, and nothing fails.
    expect(await keys.open(USE, sealed[2]!, 'a 2')).toBeUndefined()
    expect(await keys.open('other', sealed[2]!, 'a 1')).toBeUndefined()
    expect(await keys.open(USE, 'no such thing', 'a 1')).toBeUndefined()
    keys.reload({ secret_key: SECOND })
    expect(await keys.open(USE, sealed[1]!, 'a 1')).toBeUndefined()
    await storage.db.run(sql`DELETE FROM meta WHERE name = 'secret_key'`)
    expect(await ring({ secret_key: SECOND }).open(USE, sealed[0]!, 'a 1')).toBeUndefined()
    await storage.close()
  })

  it('take for a day what a former key signed, from when the first process knew, restarts and nodes included', async () => {
    const { storage, clock, ring } = await opened()
    const byRow = await ring().sign('row')
    const byFirst = await ring({ secret_key: FIRST }).sign('first')
    const next = { secret_key: SECOND, previous_secret_keys: [FIRST] }
    const keys = ring(next)
    expect([await keys.read(byRow), await keys.read(byFirst)]).toEqual(['row', 'first'])
    clock.now += DAY - 1
    const other = ring(next)
    expect([await keys.read(byFirst), await other.read(byFirst)]).toEqual(['first', 'first'])
    clock.now += 1
    expect([await keys.read(byFirst), await other.read(byFirst), await ring(next).read(byFirst)]).toEqual([
      ...[undefined, undefined, undefined],
    ])
    expect(await keys.read(byRow)).toBeUndefined()
    expect(await keys.read(await ring(next).sign('second'))).toBe('second')
    await storage.close()
  })

  it('take at once what a next key signs that is listed as a former one, and sign with it later', async () => {
    const { storage, clock, ring } = await opened()
    const early = ring({ secret_key: FIRST, previous_secret_keys: [SECOND] })
    await early.sign('a')
    // All nodes know it, and the first of them signs with it.
    const late = ring({ secret_key: SECOND, previous_secret_keys: [FIRST] })
    expect(await early.read(await late.sign('by the next'))).toBe('by the next')
    clock.now += 2 * DAY
    expect(await late.read(await late.sign('b'))).toBe('b')
    // Back to the first one: it is no former one now.
    const back = ring({ secret_key: FIRST })
    expect(await back.read(await back.sign('c'))).toBe('c')
    await storage.close()
  })

  it('take nothing that an unknown key signed', async () => {
    const { storage, ring } = await opened()
    const token = await ring({ secret_key: THIRD }).sign('a')
    expect(await ring({ secret_key: FIRST, previous_secret_keys: [SECOND] }).read(token)).toBeUndefined()
    expect(await ring().read(token)).toBeUndefined()
    await storage.close()
  })

  it('are all known where the next key becomes the first as they are read', async () => {
    const { storage, ring } = await opened()
    await ring().names()
    await storage.db.write(insertNextSecret)
    const ids = new Set((await ring().names()).map(({ id }) => id))
    let isPromoted = false
    const promoting = <T>(read: (text: Sql) => Promise<T>) => {
      return async (text: Sql): Promise<T> => {
        const result = await read(text)
        if (!isPromoted) await storage.db.write(promoteNextSecret)
        isPromoted = true
        return result
      }
    }
    const db = { ...storage.db, get: promoting(storage.db.get), all: promoting(storage.db.all) } as Database
    const keys = createKeyring({ config: parseConfig({}), db, now: () => 0 })
    expect(new Set((await keys.names()).map(({ id }) => id))).toEqual(ids)
    expect([ids.size, isPromoted]).toEqual([2, true])
    await storage.close()
  })

  it('are read again after the database failed', async () => {
    const { storage, ring } = await opened()
    const keys = ring()
    const failing = createKeyring({
      config: parseConfig({}),
      db: new Proxy(storage.db, {
        get: (db, name) =>
          name === 'all' && failures-- > 0 ? () => Promise.reject(new Error('away')) : Reflect.get(db, name),
      }),
      now: () => 0,
    })
    let failures = 1
    await expect(failing.signing(USE)).rejects.toThrow('away')
    expect(await failing.signing(USE)).toEqual(await keys.signing(USE))
    await storage.close()
  })
})

it.each([
  '',
  'secret',
  'a'.repeat(44),
  randomBytes(31).toString('base64'),
  randomBytes(33).toString('base64'),
  ` ${FIRST}`,
  FIRST.slice(0, -1),
])('a key must be 32 bytes in base64, which %j is not', (secret_key) => {
  expect(() => parseConfig({ security: { secret_key } })).toThrow('security.secret_key')
  expect(() => parseConfig({ security: { previous_secret_keys: [secret_key] } })).toThrow('previous_secret_keys')
})

describeOnEachDatabase('a service with a configured key', (openUrl) => {
  it('makes no other in its database, whatever it does', { timeout: 30_000 }, async () => {
    const service = await startService(await openUrl(), { config: { security: { secret_key: FIRST } } })
    onTestFinished(() => service.close())
    const { db, nodes } = { db: innerState(service).db, nodes: await service.chat.nodes.list(OPERATOR) }
    expect(nodes.nodes).toHaveLength(1)
    expect(await findServiceId(db)).toMatch(/^[0-9a-f]{32}$/)
    expect(await readSecret(db)).toBeUndefined()
  })
})
