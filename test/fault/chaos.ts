import { setTimeout as sleep } from 'node:timers/promises'
import type { ChatClient } from '../../lib/client/index.ts'
import { type Figures, seqOf, startFollowers } from './followers.ts'
import { settle } from './people.ts'
import { startProcess } from './process.ts'

const NODES = 2
const WRITERS = 8
const POSTS_PER_SECOND = 150

/** How readers are disconnected, and for how long. */
export interface ChaosOptions {
  url: string
  readers: number
  /** Ends after this many reconnects, or seconds. */
  reconnects?: number | undefined
  seconds?: number | undefined
  random: () => number
}

/** The result of a run. */
export interface ChaosFigures extends Figures {
  acknowledged: number
  /** Failures: events that no reader got, and acknowledged messages without an event. */
  missing: number
}

/** Disconnects readers of two services at random bytes while others write. */
export async function cutReaders({ url, readers, reconnects, seconds, random }: ChaosOptions): Promise<ChaosFigures> {
  const config = { sse: { max_streams_per_user: 10_000 } }
  const nodes = [await startProcess(url, { config })]
  try {
    while (nodes.length < NODES) nodes.push(await startProcess(url, { config }))
    const anyNode = () => nodes[Math.floor(random() * nodes.length)]!.base_url
    const { conversation_id, signIn, signInAt, cookie } = await settle(nodes[0]!.base_url)
    const ada = await signIn()
    const position = async () => (await ada.conversations.get(conversation_id)).stream_position!
    const from = await position()
    const followers = startFollowers({
      target: anyNode,
      cutAfter: () => Math.floor(2 ** (4 + random() * 14)),
      conversation_id,
      cookie: await cookie(),
      from,
      readers,
    })

    const started = performance.now()
    const isDone = () =>
      seconds === undefined ? followers.reconnects() >= reconnects! : performance.now() - started > seconds * 1000
    const acknowledged = new Set<string>()
    // One after another: one account may have few waiting hashes.
    const writers: ChatClient[] = []
    while (writers.length < WRITERS) writers.push(await signInAt(anyNode()))
    const writing = Promise.all(
      writers.map(async (writer) => {
        while (!isDone()) {
          const content = `${'grüß 🥊 '.repeat(1 + Math.floor(random() ** 4 * 500))}`
          acknowledged.add((await writer.messages.postRoot(conversation_id, { content })).message_id)
          await sleep((1000 * WRITERS) / POSTS_PER_SECOND)
        }
      }),
    )
    // Otherwise they would try forever to reconnect to nodes that have ended.
    await writing.catch((error) => followers.stop().then(() => Promise.reject(error)))
    const last = await position()
    const figures = await followers.finish(last)
    const told = new Set(figures.log.values())
    const untold = [...acknowledged].filter((id) => !told.has(id)).length
    const missing = untold + (seqOf(last) - seqOf(from) - figures.log.size)
    return { ...figures, acknowledged: acknowledged.size, missing }
  } finally {
    await Promise.all(nodes.map((node) => node.kill()))
  }
}
