import { expect, it } from 'vitest'
import { HOUR, MINUTE, SECOND } from '../../lib/core/units.ts'
import { eraseUnused } from '../../lib/guests/expiring.ts'
import { createGuestPlaces } from '../../lib/guests/places.ts'
import type { ChatError } from '../../lib/index.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { setUpNodes, startNodes } from '../support/describe-service.ts'
import { innerState, times } from '../support/service.ts'

describeOnEachDatabase('bounds of guests in time', (openUrl) => {
  let ahead = 0
  const now = () => Date.now() * 1000 + ahead
  const nodes = setUpNodes(async () =>
    startNodes(await openUrl(), { config: { guests: { enabled: true, per_ip_per_hour: 5 } }, ports: { now } }),
  )
  const [service] = nodes
  const create = (ip: string, n = 0) =>
    nodes[n % 2]!.chat.guests.create({ ip }, { token: true }).then(
      () => undefined,
      ({ code }: ChatError) => code,
    )

  it('an address makes as many in an hour as are allowed, at once or one by one, and as many in the next', async () => {
    const codes = await Promise.all(times(9, (n) => create('192.0.2.1', n)))
    expect(codes.filter((code) => code === undefined)).toHaveLength(5)
    expect(codes.filter((code) => code === 'rate_limited')).toHaveLength(4)
    for (let n = 0; n < 5; n++) {
      ahead += 11 * MINUTE
      expect(await create('192.0.2.1', n)).toBe('rate_limited')
    }
    expect(await create('192.0.2.2')).toBeUndefined()
    ahead += 6 * MINUTE
    for (let n = 0; n < 5; n++) expect(await create('192.0.2.1', n)).toBeUndefined()
    const refused = service.chat.guests.create({ ip: '192.0.2.1' }, {})
    await expect(refused).rejects.toMatchObject({ code: 'rate_limited', retry_after_seconds: expect.closeTo(3600, -2) })
  })

  it('they are counted seldom while many places are free, and each near the maximum', async () => {
    const ctx = innerState(service.chat)
    let at = 0
    const places = createGuestPlaces(() => at)
    const counted: string[] = []
    const take = (max: number) =>
      ctx.db.write((tx) =>
        places.take(
          new Proxy(tx, {
            get: (target, key) =>
              key === 'get'
                ? (...call: Parameters<typeof tx.get>) => {
                    if (call[0].text.includes('count(*)')) counted.push(call[0].text)
                    return target.get(...call)
                  }
                : Reflect.get(target, key),
          }) as never,
          max,
        ),
      )
    for (let n = 0; n < 100; n++) expect(await take(100_000)).toBe(true)
    expect(counted).toHaveLength(1)
    await take(100_000)
    expect(counted).toHaveLength(2)
    at += 11 * SECOND
    await take(100_000)
    expect(counted).toHaveLength(3)
    at += 11 * SECOND
    for (let n = 0; n < 3; n++) expect(await take(50)).toBe(true)
    expect(counted).toHaveLength(6)
    expect(await take(1)).toBe(false)
  })

  it('while guests are off, those of before are looked for each hour', async () => {
    const ctx = innerState(service.chat)
    const off = { ...ctx, config: { ...ctx.config, guests: { ...ctx.config.guests, enabled: false } } }
    const rest = { until: 0 }
    await eraseUnused(off, rest)
    const { until } = rest
    expect(until - now()).toBeGreaterThan(HOUR - MINUTE)
    ahead += MINUTE
    await eraseUnused(off, rest)
    expect(rest.until).toBe(until)
    ahead += HOUR
    await eraseUnused(off, rest)
    expect(rest.until).toBeGreaterThan(until)
    await eraseUnused(ctx, rest)
    expect(rest.until).toBeGreaterThan(until)
  })
})
