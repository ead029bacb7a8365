/**
 * Cuts readers off at random bytes while others write, and counts what they miss: nothing, or it fails.
 *
 * `tsx test/fault/sse-chaos.ts [reconnects | seconds as 60s] [sqlite | postgresql]`; CHAOS_SEED repeats a run.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { createChatClient } from '../../lib/client.ts'
import { onDatabases, type ScriptDatabase } from './databases.ts'
import { type Figures, seqOf, startFollowers } from './followers.ts'
import { settle } from './people.ts'
import { startProcess } from './process.ts'
import { createRandom, newSeed } from './random.ts'

const NODES = 2
const READERS = 50
const WRITERS = 8
const POSTS_PER_SECOND = 150

const [amount = '10000', wanted] = process.argv.slice(2)
const seconds = /^(\d+)s$/.exec(amount)?.[1]
const seed = newSeed()
const random = createRandom(seed)
console.log(`seed ${seed}`)
await onDatabases(wanted, run)

async function run({ dialect, url }: ScriptDatabase): Promise<void> {
  const config = { sse: { max_streams_per_user: 10_000 } }
  const nodes = [await startProcess(url, { config })]
  while (nodes.length < NODES) nodes.push(await startProcess(url, { config }))
  const anyNode = () => nodes[Math.floor(random() * nodes.length)]!.base_url
  try {
    const { conversation_id, signIn, cookie } = await settle(nodes[0]!.base_url)
    const ada = await signIn()
    const params = { conversation_id }
    const position = async () => (await ada.readConversation({ params })).stream_position!
    const from = await position()
    const followers = startFollowers({
      target: anyNode,
      cutAfter: () => Math.floor(2 ** (4 + random() * 14)),
      conversation_id,
      cookie: await cookie(),
      from,
      readers: READERS,
    })

    const started = performance.now()
    const isDone = () =>
      seconds ? performance.now() - started > Number(seconds) * 1000 : followers.reconnects() >= Number(amount)
    const acknowledged = new Set<string>()
    await Promise.all(
      Array.from({ length: WRITERS }, async () => {
        const writer = createChatClient({ base_url: anyNode() })
        await writer.login({ body: { email: 'ada@example.org', password: 'correct horse battery' } })
        while (!isDone()) {
          const content = `${'grüß 🥊 '.repeat(1 + Math.floor(random() ** 4 * 500))}`
          acknowledged.add((await writer.postRoot({ params, body: { content } })).message_id)
          await sleep((1000 * WRITERS) / POSTS_PER_SECOND)
        }
      }),
    )
    const last = await position()
    const figures = await followers.finish(last)
    report(dialect, figures, { from, last, acknowledged, took: (performance.now() - started) / 1000 })
  } finally {
    await Promise.all(nodes.map((node) => node.kill()))
  }
}

function report(
  dialect: string,
  { events, reconnects, faults, log }: Figures,
  { from, last, acknowledged, took }: { from: string; last: string; acknowledged: Set<string>; took: number },
): void {
  const told = [...log.values()]
  const missing = [...acknowledged].filter((id) => !told.includes(id)).length + (seqOf(last) - seqOf(from) - log.size)
  console.log(
    `${dialect}: ${READERS} readers, ${reconnects} reconnects, ${acknowledged.size} messages, ` +
      `${events} events read in ${took.toFixed(1)} s, ${missing} missing, ${faults.length} faults`,
  )
  for (const fault of faults.slice(0, 20)) console.log(`  ${fault}`)
  if (missing > 0 || faults.length > 0) process.exitCode = 1
}
