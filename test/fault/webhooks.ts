/**
 * Kills a service at random moments while it calls a webhook. It fails if the receiver misses an event.
 *
 * `tsx test/fault/webhooks.ts [kills] [messages between two] [sqlite | postgresql]`; CHAOS_SEED repeats the choices of a run.
 */
import { onDatabases } from './databases.ts'
import { createRandom, newSeed } from './random.ts'
import { crashWebhooks } from './webhook-crashes.ts'

const [kills = '20', messages = '500', wanted] = process.argv.slice(2)
const seed = newSeed()
console.log(`seed ${seed}`)

await onDatabases(wanted, async ({ dialect, url }) => {
  const options = { kills: Number(kills), messages: Number(messages), random: createRandom(seed) }
  const { missing, repeated, ...figures } = await crashWebhooks({ url, ...options })
  console.log(`${dialect}: ${figures.kills} kills, ${figures.messages} messages, ${repeated} twice, ${missing} missing`)
  if (missing > 0) process.exitCode = 1
})
