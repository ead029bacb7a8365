import { setTimeout as sleep } from 'node:timers/promises'
import { createFailure } from '../load/failure.ts'
import { type Returning, returnAll } from '../load/returning.ts'
import { connectionsMissing, cpuSeconds, processFiguresMissing } from '../machine.ts'
import { interleaveWarm, type Row } from '../row.ts'
import { createPeople, numbers } from '../servers/people.ts'
import { newDatabase, startBareService } from '../servers/service.ts'
import { withServers } from '../servers/with.ts'

/** The people of a conversation to compare with. */
const FEW = 100

/** Who is away for longer is told to be offline. */
const AWAY_MS = 6_000

/** As many streams of as many people, who come, go and come back at once: only the conversations differ. */
export const together: Row = {
  name: 'together',
  title: 'CPU per stream when --streams people of one conversation come, go and come back at once',
  unit: 'µs',
  peer: `as many in conversations of ${FEW}`,
  better: 'lower',
  reach: 1.2,
  beyond: 1.05,
  unavailable: ({ streams }) => processFiguresMissing() ?? connectionsMissing(streams),
  async measure({ streams, rounds, command }) {
    const one = open(command, streams, [numbers(streams)])
    const several = open(command, streams, inGroups(streams))
    return withServers(one, several, (service, peer) => interleaveWarm(rounds, service.round, peer.round))
  },
}

function inGroups(people: number): number[][] {
  return numbers(Math.ceil(people / FEW)).map((n) => numbers(Math.min(FEW, people - n * FEW)).map((k) => n * FEW + k))
}

async function open(command: string[], count: number, groups: number[][]) {
  const database = newDatabase()
  const { people } = await createPeople(database, count, groups)
  const server = await startBareService(command, database)

  async function round(): Promise<number> {
    const { fail, or } = createFailure()
    const before = cpuSeconds(server.pid)
    const come = async (positions?: string[]) => {
      const returning = people.map(({ headers }, n): Returning => {
        return { headers, missed: 0, ...(positions && { last_event_id: positions[n]! }) }
      })
      const { positions: reached, close } = await or(returnAll(server.port, returning, fail))
      // What is told of them has been sent.
      await or(sleep(AWAY_MS))
      close()
      await or(sleep(AWAY_MS))
      return reached
    }
    await come(await come())
    return ((cpuSeconds(server.pid) - before) * 1e6) / (2 * count)
  }

  return { ...server, round }
}
