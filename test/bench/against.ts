import { type Bench, interleave, type Row } from './row.ts'

/** What another build of the service may cost more or less, whatever the row measures. */
const GOALS = { higher: { reach: 0.9, beyond: 0.95 }, lower: { reach: 1.1, beyond: 1.05 } }

/**
 * The row of this build against that of another one, in turn, each round on servers and databases of its own.
 *
 * @param command the arguments that make Node run the service of the other build
 */
export function against(row: Row, command: string[]): Row {
  return {
    ...row,
    ...GOALS[row.better],
    peer: 'the other build',
    async measure(bench) {
      let isStarted = false
      const once = { ...bench, rounds: 1 }
      const other = () => ({
        ...once,
        get command() {
          isStarted = true
          return command
        },
      })
      const pairs = await interleave(
        bench.rounds,
        () => measureOnce(row, { ...once }),
        () => measureOnce(row, other()),
      )
      // A row that runs no service has measured the library of this checkout twice.
      return isStarted ? pairs : []
    },
  }
}

/** A bench of its own, so that rows which share a run measure again. */
async function measureOnce(row: Row, bench: Bench): Promise<number> {
  const [round] = await row.measure(bench)
  return round!.service
}
