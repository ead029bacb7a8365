import { setTimeout as sleep } from 'node:timers/promises'
import { ChatError } from '../../lib/client/index.ts'
import type { Fleet } from './fleet.ts'
import type { FleetPeople } from './fleet-people.ts'
import { startFollowers } from './followers.ts'
import { differencesFrom, startAllFollowers } from './followers-all.ts'

const WRITERS = 4
const READERS = 2
const READERS_OF_ALL = 3

/** A pause between two posts of a writer, which leaves the processor to what is tested. */
const PAUSE_MS = 20

/**
 * Posts at once, through all nodes, into one conversation: more events of other nodes than a node reads at a time. And the
 * pause between two such bursts.
 */
const BURST = 120
const BURST_PAUSE_MS = 1_000

/** After the last post everything must be delivered within this time, without another one. */
const DELIVERED_MS = 60_000

/** Posts into all conversations, and readers of both kinds of streams, at all nodes. */
export interface FleetLoad {
  /** The acknowledged posts so far, by message id, with their conversation. */
  acknowledged: ReadonlyMap<string, string>
  /** Waits for so many more of them, besides those of bursts. */
  progress(posts: number): Promise<void>
  /** Ends. @returns what was read, and what was missing, repeated, out of order or refused */
  finish(): Promise<{ events: number; reconnects: number; unanswered: number; faults: string[] }>
  /** Ends at once. */
  stop(): Promise<void>
}

export async function startLoad(fleet: Fleet, { ada, conversationIds }: FleetPeople): Promise<FleetLoad> {
  const target = async () => (await fleet.pick()).base_url
  const positionOf = async (id: string) => (await ada.client.conversations.get(id)).stream_position!
  const starts = await Promise.all(conversationIds.map(positionOf))
  const reading = { target, cookie: ada.headers.cookie }
  const followers = conversationIds.map((conversation_id, index) =>
    startFollowers({ ...reading, conversation_id, from: starts[index]!, readers: READERS }),
  )
  const ofAll = await startAllFollowers({ ...reading, readers: READERS_OF_ALL })
  const acknowledged = new Map<string, string>()
  const faults: string[] = []
  let unanswered = 0
  let steady = 0
  let isOver = false

  async function post(conversation_id: string, content: string): Promise<string | undefined> {
    try {
      const { message_id } = await ada.client.messages.postRoot(conversation_id, { content })
      acknowledged.set(message_id, conversation_id)
      return message_id
    } catch (error) {
      unanswered++
      // The database restarts, or too many wait; anything else is no answer at all, as its node has died.
      if (error instanceof ChatError && error.code !== 'unavailable') faults.push(`a post was refused: ${error.code}`)
      return undefined
    }
  }

  const writing = Array.from({ length: WRITERS }, async (_, writer) => {
    for (let n = writer; !isOver; n++) {
      if (await post(conversationIds[n % conversationIds.length]!, `${writer}/${n}`)) steady++
      await sleep(PAUSE_MS)
    }
  })
  const bursting = (async () => {
    for (let n = 0; !isOver; n++) {
      const conversation_id = conversationIds[n % conversationIds.length]!
      await Promise.all(Array.from({ length: BURST }, (_, each) => post(conversation_id, `burst ${n}/${each}`)))
      await sleep(BURST_PAUSE_MS)
    }
  })()
  const written = Promise.all([...writing, bursting])

  async function stop(): Promise<void> {
    isOver = true
    await Promise.all([ofAll.stop(), ...followers.map((each) => each.stop())])
    await written
  }

  return {
    acknowledged,
    async progress(posts) {
      const wanted = steady + posts
      while (steady < wanted && faults.length === 0) await sleep(10)
    },
    async finish() {
      isOver = true
      await written
      // Not with a last post: it would make nodes deliver what they owe.
      const late = setTimeout(() => {
        faults.push(`not everything was delivered within ${DELIVERED_MS} ms`)
        void stop()
      }, DELIVERED_MS)
      const read = await Promise.all(
        followers.map(async (each, i) => each.finish(await positionOf(conversationIds[i]!))),
      )
      const logs = read.map(({ log }) => [...log.values()])
      const all = await ofAll.finish([...acknowledged.keys()])
      clearTimeout(late)
      const delivered = new Set(logs.flat())
      return {
        events: all.events + read.reduce((sum, { events }) => sum + events, 0),
        reconnects: all.reconnects + read.reduce((sum, { reconnects }) => sum + reconnects, 0),
        unanswered,
        faults: [
          ...faults,
          ...read.flatMap((each) => each.faults),
          ...all.faults,
          ...[...acknowledged.keys()].filter((id) => !delivered.has(id)).map((id) => `post ${id} was not delivered`),
          ...all.notes.flatMap((notes, reader) =>
            differencesFrom(logs, notes).map((what) => `reader ${reader} of all: ${what}`),
          ),
        ],
      }
    },
    stop,
  }
}
