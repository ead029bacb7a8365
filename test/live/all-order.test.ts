import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor } from '../../lib/core/actor.ts'
import { appendEvents } from '../../lib/live/log/appending.ts'
import { sql } from '../../lib/storage/sql.ts'
import { createRandom, newSeed } from '../fault/random.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { innerState, patiently, startService, type TestService, times } from '../support/service.ts'

const READERS = 12
const WRITERS = 6
const WRITES = 40

/** What a reader has got of each conversation: the numbers of its events, in the order of arrival. */
type Got = Map<string, number[]>

describeOnEachDatabase('streams of all conversations that break anywhere', (openUrl) => {
  const nodes: TestService[] = []
  let ada: Actor
  let grace: Actor
  let adas: string[]
  let changing: string[]
  const random = createRandom(newSeed())
  const pick = <T>(list: T[]): T => list[Math.floor(random() * list.length)]!

  beforeAll(async () => {
    const url = await openUrl()
    for (let i = 0; i < 2; i++) nodes.push(await startService(url, { config: { sse: { max_streams_per_user: 1000 } } }))
    const { chat } = nodes[0]!
    ada = await chat.users.actor((await nodes[0]!.signIn('ada')).id)
    grace = await chat.users.actor((await nodes[0]!.signIn('grace')).id)
    const create = async () => (await chat.conversations.create(grace, { title: 'Engines' })).conversation_id
    adas = await Promise.all(times(5, create))
    changing = await Promise.all(times(3, create))
    for (const id of adas) await chat.participants.add(grace, id, { user_id: ada.user_id })
  })
  afterAll(() => Promise.all(nodes.map((node) => node.close())))

  /** Changes one of the conversations at random, on one of the nodes. */
  async function write(n: number): Promise<void> {
    const { chat } = pick(nodes)
    const chance = random()
    if (chance < 0.15) {
      const id = pick(changing)
      const { participants } = await chat.conversations.get(grace, id)
      const isIn = participants.some(({ user_id }) => user_id === ada.user_id)
      // Another writer may be faster.
      if (isIn) await chat.participants.remove(grace, id, ada.user_id).catch(() => {})
      else await chat.participants.add(grace, id, { user_id: ada.user_id }).catch(() => {})
    } else if (chance < 0.25) await chat.conversations.rename(grace, pick(adas), { title: `${n}` })
    else await patiently(() => chat.messages.postRoot(grace, pick([...adas, ...changing]), { content: `${n}` }))
  }

  /** A transaction whose event gets its id early, and is committed after those of others. */
  async function commitLate(): Promise<void> {
    const { db } = innerState(pick(nodes))
    if (db.dialect === 'sqlite') return
    await db.write(async (tx) => {
      const at = Date.now() * 1000
      const events = [{ type: 'conversation.updated' as const }]
      await appendEvents(tx, [{ conversation_id: pick(adas), at, events, messages: 0, roots: 0 }])
      await tx.get(sql`SELECT pg_sleep(${random() / 10})`)
    })
  }

  /** Reads, and reconnects to another node after a few events, until `isOver`. */
  async function read(from: string, isOver: (got: Got) => boolean): Promise<{ got: Got; ids: string[] }> {
    const got: Got = new Map()
    const ids: string[] = []
    for (let last = from; !isOver(got); ) {
      // Reads of one turn share a state of the database, which a request from outside never finds too old.
      await nextTurn()
      let left = 1 + Math.floor(random() * 20)
      for await (const { id, event, conversation_id, seq } of pick(nodes).chat.events.followAll(ada, {
        last_event_id: last,
      })) {
        expect(event.type === 'stream.reset' ? event.payload : undefined).toBe(undefined)
        if (id === undefined) continue
        last = id
        if (event.type === 'stream.ready') continue
        ids.push(id)
        got.set(conversation_id!, [...(got.get(conversation_id!) ?? []), seq!])
        if (--left === 0 || isOver(got)) break
      }
    }
    return { got, ids }
  }

  it('miss nothing, get nothing twice, and each conversation in its order, on whichever node', {
    // With little of the processor it takes minutes; readers that miss an event never end.
    timeout: 300_000,
  }, async () => {
    const { chat } = nodes[0]!
    const first = await chat.events.followAll(ada).next()
    const from = first.value!.id!
    const { db } = innerState(chat)
    const headOf = async (id: string) =>
      (await db.get<{ last: number }>(sql`SELECT last_seq AS last FROM conversations WHERE id = ${id}`))!.last
    const before = new Map(await Promise.all(adas.map(async (id) => [id, await headOf(id)] as const)))
    let ends: Map<string, number> | undefined
    const isOver = (got: Got) =>
      ends !== undefined && [...ends].every(([id, end]) => (got.get(id)?.at(-1) ?? before.get(id)!) >= end)
    const readers = times(READERS, () => read(from, isOver))

    const late = times(4, async () => {
      for (let i = 0; i < 8; i++) await commitLate()
    })
    await Promise.all(
      times(WRITERS, async (writer) => {
        for (let i = 0; i < WRITES; i++) await write(writer * WRITES + i)
      }),
    )
    await Promise.all(late)
    ends = new Map(await Promise.all(adas.map(async (id) => [id, await headOf(id)] as const)))
    // Wakes the readers that have got everything, and wait.
    for (const id of adas) await chat.messages.postRoot(grace, id, { content: 'end' })

    for (const { got, ids } of await Promise.all(readers)) {
      expect(new Set(ids).size).toBe(ids.length)
      for (const id of adas) {
        const begin = before.get(id)!
        const seqs = got.get(id) ?? []
        expect(seqs).toEqual(times(seqs.length, (index) => begin + 1 + index))
        expect(seqs.at(-1) ?? begin).toBeGreaterThanOrEqual(ends.get(id)!)
      }
      for (const id of changing) {
        const seqs = got.get(id) ?? []
        expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b))
      }
    }
  })
})
