import { describe, expect, it } from 'vitest'
import type { FeedRow, Place } from '../../lib/live/feed/feed-order.ts'
import type { JoinedConversation, Reader } from '../../lib/live/readers/reader.ts'
import { times } from '../support/service.ts'
import { type Interleaving, inManyInterleavings } from './interleavings.ts'
import { createNode, type SimulatedNode } from './simulated-node.ts'
import { createServer, isUpTo, type Line, type SimulatedServer } from './simulated-server.ts'

/** Ada participates in the first three from the beginning; she is added to the others, and removed. */
const CONVERSATIONS = ['a', 'b', 'c', 'd', 'e'] as const
const IS_FIXED = (id: string) => id < 'd'

/** What a client has got, in the order of arrival. */
interface Got {
  conversation_id: string
  seq: number
  place: Place
}

/** A client that reads all conversations of Ada, and resumes after each end of its stream. */
function createClient(nodes: SimulatedNode[], work: Interleaving) {
  const got: Got[] = []
  const wrong: string[] = []
  let start: Place | undefined
  let last_event_id: string | undefined
  let reading: { reader: Reader; node: SimulatedNode } | undefined

  function open(): void {
    const node = work.pick(nodes)
    const placeOf = (id: string) => node.feed.parse(id.slice(17))!
    const reader = {
      ...{ user_id: 'ada', is_system: false, closed: false },
      sink: {
        write({ events }) {
          if (reader.closed) return
          for (const { id, event, conversation_id, seq } of events) {
            if (event.type === 'stream.reset') wrong.push(`${last_event_id} is refused: ${event.payload.reason}`)
            if (id === undefined) continue
            last_event_id = id
            if (seq !== undefined) got.push({ conversation_id: conversation_id!, seq, place: placeOf(id) })
            else start ??= placeOf(id)
          }
        },
        end() {
          reading = undefined
        },
      },
    } as Reader
    reading = { reader, node }
    void node.connect(reader, last_event_id)
  }

  return {
    got,
    wrong,
    start: () => start,
    close: () => reading?.node.close(reading.reader),
    /** Opens the stream, unless it is open. */
    open: () => reading ?? open(),
  }
}

type Client = ReturnType<typeof createClient>

/** The conversations in which Ada participates at present. */
function listMemberships({ rows }: SimulatedServer): JoinedConversation[] {
  return CONVERSATIONS.flatMap((conversation_id) => {
    const changes = rows.filter((row) => row.conversation_id === conversation_id && row.user_id === 'ada')
    const last = changes.reduce((latest, row) => (row.seq > latest.seq ? row : latest), changes[0] ?? NEVER)
    if (!IS_FIXED(conversation_id) && last.detail !== 'added') return []
    return [{ conversation_id, joined_at: last.created_at }]
  })
}

const NEVER = { seq: 0, detail: null, created_at: 0 }

/** A stream resumes from each id with exactly the later events. @returns of which of these rows that is not true */
function oddPlaces(got: Got[], log: FeedRow[], begin: Place): string[] {
  const { conversation_id, seq, place } = got.at(-1)!
  const id = log[0]?.conversation_id
  const last = got.findLast((each) => each.conversation_id === id)?.seq ?? 0
  const odd = log.find((row) => !isUpTo(begin, row) && isUpTo(place, row) !== row.seq <= last && row.detail !== 'gone')
  return odd ? [`${conversation_id} ${seq} resumes wrongly with ${id} ${odd.seq}: ${JSON.stringify(place)}`] : []
}

/** Looks at what a client has got, if it had to get all that concerns Ada. @returns what is wrong */
function listWrong({ got, wrong, start }: Client, { rows }: SimulatedServer, work: Interleaving): string[] {
  const found = [...wrong]
  const begin = start()
  if (begin === undefined) return ['it got nothing']
  const samples = got.length > 0 ? times(20, () => work.below(got.length)) : []
  for (const id of CONVERSATIONS) {
    const seqs = got.filter((each) => each.conversation_id === id).map(({ seq }) => seq)
    const log = rows.filter((row) => row.conversation_id === id).sort((a, b) => a.seq - b.seq)
    const last = log.findLastIndex(({ user_id }) => user_id === 'ada')
    const isIn = IS_FIXED(id) || log[last]?.detail === 'added'
    const since = isIn ? log.slice(Math.max(0, last)) : []
    const due = since.filter((row) => !isUpTo(begin, row) && row.detail !== 'gone').map(({ seq }) => seq)
    // Before that Ada has participated at times.
    const before = seqs.slice(0, Math.max(0, seqs.length - due.length))
    const isBefore = IS_FIXED(id) ? before.length === 0 : before.every((seq) => seq < (due[0] ?? Infinity))
    if (!isBefore || seqs.slice(before.length).join() !== due.join()) found.push(`${id} ${seqs} instead of ${due}`)
    if (seqs.some((seq, index) => index > 0 && seq <= seqs[index - 1]!)) found.push(`${id} not in order: ${seqs}`)
    if (IS_FIXED(id)) found.push(...samples.flatMap((index) => oddPlaces(got.slice(0, index + 1), since, begin)))
  }
  return found
}

describe.each(['sqlite', 'postgresql'] as const)('streams of all conversations on %s', (dialect) => {
  it('have each event once, in order, and resume exactly, in any interleaving', async () => {
    await inManyInterleavings(40, async (work) => {
      const server = createServer(dialect, work)
      const canFail = work.chance(0.5)
      let isFailing = canFail
      const nodes = times(2, () =>
        createNode(server, work, {
          isFailing: () => isFailing,
          listMemberships: () => listMemberships(server),
        }),
      )
      const changing = new Set<string>()

      async function commit(): Promise<void> {
        const conversations = new Set(times(1 + work.below(2), () => work.pick(CONVERSATIONS)))
        const size = work.chance(0.05) ? 300 : work.chance(0.3) ? 5 : 1
        const isKnown = work.chance(0.7)
        const lines = [...conversations].flatMap((conversation_id) =>
          times(size, (): Line => {
            const detail = !isKnown && work.chance(0.1) ? 'gone' : null
            return { conversation_id, type: 'conversation.updated', user_id: null, detail }
          }),
        )
        const node = work.chance(0.8) ? work.pick(nodes) : undefined
        const rows = await server.commit(lines, work.chance(0.1))
        if (rows.length > 0 && node) work.later(() => node.committed(rows, isKnown))
      }

      async function change(): Promise<void> {
        const conversation_id = work.pick(CONVERSATIONS.filter((id) => !IS_FIXED(id) && !changing.has(id)))
        if (!conversation_id) return
        changing.add(conversation_id)
        const isIn = listMemberships(server).some((each) => each.conversation_id === conversation_id)
        const detail = isIn ? 'removed' : 'added'
        const node = work.pick(nodes)
        const rows = await server.commit([{ conversation_id, type: 'membership.changed', user_id: 'ada', detail }])
        changing.delete(conversation_id)
        work.later(() => node.committed(rows, true))
      }

      const clients = times(3, () => createClient(nodes, work))
      const many = work.pick([0, 5, 62, 80])
      const others = dialect === 'sqlite' ? [] : times(many, server.begin)
      const stepsBetween = work.pick([2, 10, 30])
      const polling = new Map<SimulatedNode, Promise<void>>()
      const poll = (node: SimulatedNode) => {
        if (!polling.has(node))
          polling.set(
            node,
            node.poll().finally(() => polling.delete(node)),
          )
      }
      for (const client of clients) client.open()
      for (let left = 10 + work.below(40); left > 0; left--) {
        void (work.chance(0.15) ? change() : commit())
        if (work.chance(0.4)) poll(work.pick(nodes))
        if (work.chance(0.1)) {
          const client = work.pick(clients)
          client.close()
          client.open()
        }
        if (others.length > 0) {
          server.end(others.splice(work.below(others.length), 1)[0]!)
          others.push(server.begin())
        }
        for (let steps = work.below(stepsBetween); steps > 0; steps--) await work.step()
      }
      for (const xid of others) server.end(xid)
      isFailing = false
      await work.settle()
      for (const client of clients) client.open()
      await work.settle()
      for (const node of nodes) poll(node)
      await work.settle()
      expect(clients.flatMap((client) => listWrong(client, server, work))).toEqual([])
    })
  })
})
