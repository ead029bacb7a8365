import { expect, it } from 'vitest'
import { newSeed } from '../fault/random.ts'
import { hasBrowser } from '../support/browser.ts'
import { beginHour } from './hour.ts'

/** People, acts of all of them, and how many acts are a minute. `npm run test:hour` has five people and 300 acts. */
const [PEOPLE, ACTS, MINUTE] = process.env.HOUR === 'whole' ? [5, 300, 5] : [2, 24, 6]

it.skipIf(!hasBrowser)(
  'people who act as they like see at each minute what the service reads, nothing lost and nothing twice',
  async () => {
    const seed = newSeed()
    console.log(`CHAOS_SEED=${seed}`)
    const hour = await beginHour(seed, PEOPLE)
    let tenth: Awaited<ReturnType<typeof hour.weigh>> | undefined
    for (let minute = 1; minute <= ACTS / MINUTE; minute++) {
      await hour.act(MINUTE)
      await hour.settle()
      if (minute === 10) tenth = await hour.weigh()
    }
    expect((await hour.read()).filter((text) => /\d$/.test(text)).sort()).toEqual([...hour.posted].sort())
    expect(hour.problems).toEqual([])
    const { heap, nodes } = await hour.weigh()
    console.log(
      `heap ${heap >> 10} kB, ${nodes} nodes${tenth ? `; at minute ten ${tenth.heap >> 10} kB, ${tenth.nodes}` : ''}`,
    )
    expect(nodes).toBeLessThan(25_000)
    if (tenth) expect(heap).toBeLessThan(1.5 * tenth.heap)
  },
  PEOPLE === 5 ? 3_600_000 : 300_000,
)
