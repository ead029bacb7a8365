import { describe, it } from 'vitest'
import { attempt } from './attempt.ts'
import { CLIENTS } from './clients.ts'
import { TIMEOUT_MS, UNAVAILABLE } from './programs.ts'

// `npm run test:clients` makes the slow ones, too.
describe.concurrent('a client that is generated from the OpenAPI document', () => {
  it.for(CLIENTS.filter(({ is_slow }) => !is_slow))(
    'compiles: $name',
    { timeout: 4 * TIMEOUT_MS },
    async (client, { skip }) => {
      const result = await attempt(client)
      if (result === undefined) return
      if (!result.startsWith(UNAVAILABLE)) throw new Error(result)
      console.log(`${client.name} ${result}`)
      skip(result)
    },
  )
})
