import { describe, expect, it } from 'vitest'
import { ChatError } from '../../../lib/core/errors.ts'
import { createRefusals } from '../../../lib/storage/postgres/refusals.ts'
import { times } from '../../support/service.ts'
import { promised } from '../handles.ts'

const refused = (code: string) => async () => {
  throw Object.assign(new Error(`refused with ${code}`), { code })
}

/** Refusals under a clock that stands still, and the attempts that reached the server. */
function paced() {
  let now = 0
  const reached: number[] = []
  const refusals = createRefusals(() => now)
  const attempt = (connect: () => Promise<unknown>) =>
    refusals
      .attempt(() => {
        reached.push(now / 1000)
        return connect()
      })
      .catch((error: unknown) => error)
  const tick = (seconds: number) => {
    now += seconds * 1000
  }
  return { refusals, reached, attempt, tick }
}

describe('connections that PostgreSQL refuses', () => {
  it.each(['28P01', '28000', '3D000', '42501', '55000', '0A000', 'ZZ999'])(
    'are tried again 1, 2, 4, … 30 seconds after a refusal with %s',
    async (code) => {
      const { reached, attempt, tick } = paced()
      for (const _ of times(100, () => 0)) {
        await attempt(refused(code))
        tick(1)
      }
      expect(reached).toEqual([0, 1, 3, 7, 15, 31, 61, 91])
    },
  )

  it('are unavailable until then, with the reason and the time that is left', async () => {
    const { attempt, tick } = paced()
    const first = await attempt(refused('28P01'))
    expect(first).toMatchObject({ code: 'unavailable', retry_after_seconds: 1, cause: { code: '28P01' } })
    tick(1)
    await attempt(refused('28P01'))
    tick(0.5)
    expect(await attempt(refused('28P01'))).toMatchObject({ retry_after_seconds: 2, cause: { code: '28P01' } })
  })

  it('are tried one at a time, and as they come once one succeeds', async () => {
    const { reached, attempt, tick } = paced()
    // Those of the beginning were opened together, and count as one refusal.
    await Promise.all(times(5, () => attempt(refused('28P01'))))
    tick(1)
    const trial = promised()
    const trying = attempt(() => trial.promise)
    expect(await attempt(async () => 'early')).toBeInstanceOf(ChatError)
    trial.resolve()
    await trying
    expect(await Promise.all(times(3, () => attempt(async () => 'connected')))).toEqual(times(3, () => 'connected'))
    expect(reached).toEqual([...times(5, () => 0), ...times(4, () => 1)])
  })

  it('are tried at once with other credentials', async () => {
    const { refusals, attempt } = paced()
    await attempt(refused('28P01'))
    refusals.forget()
    expect(await attempt(async () => 'connected')).toBe('connected')
  })

  it.each(['ECONNREFUSED', 'EPIPE', 'ENOENT', '08006', '53300', '57P03', '57P01', '58000'])(
    'are not slowed down by %s, which is soon over',
    async (code) => {
      const { reached, attempt } = paced()
      for (const _ of times(5, () => 0)) expect(await attempt(refused(code))).toMatchObject({ code })
      expect(reached).toHaveLength(5)
    },
  )
})
