import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Collects garbage for several turns of the event loop: weak references are cleared in the turn after. */
export async function collectGarbage(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) {
    collect()
    await new Promise(setImmediate)
  }
}
