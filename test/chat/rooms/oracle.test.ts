import fc from 'fast-check'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type Actor, type Chat, type ChatError, OPERATOR } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { startNodes } from '../../support/describe-service.ts'
import { filesInFolder } from '../../support/files-folder.ts'
import { innerState, type TestService, times } from '../../support/service.ts'
import { withResolvers } from '../../support/with-resolvers.ts'
import { canOf, OWN_PLACES, OWN_ROLES, ofService, PLACES, type Place, SERVICE, SHOWN, verdict } from './oracle.ts'
import { attempt, type Person, pickOf, type Room } from './oracle-acts.ts'

const RUNS = Number(process.env.ORACLE_RUNS ?? 10)

/** A failure by its reason with the right, else by its code. */
async function answerOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'ok',
    (error: ChatError) => {
      if (!error.code || error.code === 'internal') throw error
      return error.reason ? `${error.reason} ${error.right ?? ''}`.trim() : error.code
    },
  )
}

const ACTS =
  'post reply mention_all react attach pin moderate add invite change remove leave join rename topic policy visibility freeze read create look grant'.split(
    ' ',
  )

/** What the list of public conversations has of one. */
const pickRoom = ({ visibility, join, joined }: Pick<Room, 'visibility' | 'join'> & { joined?: boolean }) => ({
  visibility,
  join,
  joined,
})

let count = 0

describeOnEachDatabase('rights, against an oracle', (openUrl) => {
  let nodes: [TestService, TestService]
  let system: Actor

  beforeAll(async () => {
    const access = { roles: OWN_ROLES, participant_roles: OWN_PLACES }
    const config = { access, attachments: await filesInFolder(), sse: { max_streams_per_user: 100 } }
    nodes = await startNodes(await openUrl(), { config })
    await nodes[0].signIn('root')
    system = await nodes[0].chat.system('keeper')
  })
  afterAll(() => Promise.all(nodes.map((node) => node.close())))

  async function createPerson(roles: string[]): Promise<Person> {
    const { users } = nodes[0].chat
    const name = `p${++count}`
    const { user } = await users.create(OPERATOR, { username: name, email: `${name}@example.org`, roles })
    return { name, roles, id: user.id, actor: await users.actor(user.id), got: new Map() }
  }

  async function createRoom(people: Person[], visibility: Place['visibility'], pick: number): Promise<Room> {
    const { chat } = nodes[0]
    const title = `Room ${++count}`
    const { conversation_id: id } = await chat.conversations.create(system, { title, visibility })
    const roles = new Map<string, string>()
    for (const [index, { id: user_id, name }] of people.entries()) {
      const role = pickOf(Object.keys(PLACES), pick >> (index * 3))
      if ((pick >> index) % 4 === 0) continue
      await chat.participants.add(system, id, { user_id, role })
      roles.set(name, role)
    }
    const texts: string[] = []
    for (const content of times(12, (n) => `text ${n}`))
      texts.push((await chat.messages.postRoot(system, id, { content })).message_id)
    const last_seq = await lastOf(chat, id)
    const [kept, ...left] = texts as [string, ...string[]]
    return {
      visibility,
      join: 'invite',
      policy: {},
      frozen: false,
      roles,
      id,
      title,
      kept,
      left,
      audience: new Map(),
      last_seq,
    }
  }

  /** Read on the node of the change: the reads of a turn share a state, which another node's may be older than. */
  async function lastOf(chat: Chat, id: string): Promise<number> {
    const { db } = innerState(chat)
    return (await db.get<{ last_seq: number }>(sql`SELECT last_seq FROM conversations WHERE id = ${id}`))!.last_seq
  }

  /** Opens the stream of a person on a node. @returns once it is open, what ends with it */
  async function follow(person: Person, chat: Chat, signal: AbortSignal): Promise<{ ended: Promise<void> }> {
    const isOpen = withResolvers<void>()
    const read = async () => {
      for await (const { conversation_id, seq } of chat.events.followAll(person.actor, { signal })) {
        isOpen.resolve()
        if (conversation_id !== undefined && seq !== undefined) gotBy(person, conversation_id).add(seq)
      }
    }
    const ended = read().catch((error: Error) => {
      if (!signal.aborted) throw error
    })
    await Promise.race([isOpen.promise, ended])
    return { ended }
  }

  function gotBy({ got }: Person, id: string): Set<number> {
    if (!got.has(id)) got.set(id, new Set())
    return got.get(id)!
  }

  /** The persons that participate get each event of a conversation, and no others. */
  async function assertGot(people: Person[], rooms: Room[]): Promise<void> {
    for (const { id, audience } of rooms)
      for (const person of people) {
        const due = [...audience].filter(([, { before, after }]) => before.has(person.name) && after.has(person.name))
        await vi.waitFor(
          () => expect(due.map(([seq]) => seq).filter((seq) => !gotBy(person, id).has(seq))).toEqual([]),
          { timeout: 30_000 },
        )
        const allowed = (seq: number) => {
          const { before, after } = audience.get(seq) ?? { before: new Set(), after: new Set() }
          return before.has(person.name) || after.has(person.name)
        }
        const others = [...gotBy(person, id)].filter((seq) => !allowed(seq))
        expect(others.map((seq) => ({ seq, by: person.name, ...audience.get(seq) }))).toEqual([])
      }
  }

  it('answers each act, on either node, with the verdict and the reason of the oracle', {
    timeout: 300_000,
  }, async () => {
    const step = fc.record({
      act: fc.constantFrom(...ACTS),
      who: fc.nat(4),
      whom: fc.nat(4),
      room: fc.nat(2),
      node: fc.nat(1),
      pick: fc.nat(100_000),
    })
    const seen = new Map<string, number>()
    const rolesOf = (pick: number) => {
      const names = Object.keys(SERVICE)
      return [...new Set(pick % 3 ? [pickOf(names, pick >> 2)] : [pickOf(names, pick >> 2), pickOf(names, pick >> 5)])]
    }
    const start = fc.tuple(...times(8, () => fc.nat(1_000_000)))
    const property = fc.asyncProperty(start, fc.array(step, { minLength: 40, maxLength: 80 }), async (picks, steps) => {
      const people: Person[] = []
      for (const pick of picks.slice(0, 5)) people.push(await createPerson(rolesOf(pick)))
      const rooms: Room[] = []
      for (const [index, visibility] of (['private', 'listed', 'open'] as const).entries())
        rooms.push(await createRoom(people, visibility, picks[5 + index]!))
      const stop = new AbortController()
      const opening = people.map((person, index) => follow(person, nodes[index % 2]!.chat, stop.signal))
      const streams = await Promise.all(opening)
      for (const { act, who, whom, room: n, node, pick } of steps) {
        const { chat } = nodes[node]!
        const [person, other, room] = [people[who]!, people[whom]!, rooms[n]!]
        if (act === 'grant') {
          person.roles = rolesOf(pick)
          await chat.users.change(OPERATOR, person.id, { roles: person.roles })
          person.actor = await chat.users.actor(person.id)
          continue
        }
        if (act === 'create') {
          const answer = await answerOf(chat.conversations.create(person.actor))
          expect([person.roles, answer]).toEqual([person.roles, ofService(person, 'create_conversations')])
          continue
        }
        if (act === 'look') {
          const looking = chat.conversations.directory(person.actor, { query: room.title, limit: 200 })
          expect([person.roles, await answerOf(looking)]).toEqual([person.roles, ofService(person, 'browse')])
          const { conversations } = await looking.catch(() => ({ conversations: [] }))
          const found = conversations.find(({ id }) => id === room.id)
          const isListed = room.visibility !== 'private' && ofService(person, 'browse') === 'ok'
          expect(found && pickRoom(found)).toEqual(
            isListed ? { ...pickRoom(room), joined: room.roles.has(person.name) } : undefined,
          )
          continue
        }
        const { deed, call, done } = attempt(chat, room, [person, other], act, pick)
        if (act === 'moderate' && room.left.length === 0) continue
        const expected = verdict(rooms, room, person, deed)
        const answer = await answerOf(call())
        const { visibility, join, policy, frozen } = room
        const own = room.roles.get(person.name)
        const towards = deed.towards && { self: other === person, role: room.roles.get(other.name) }
        const about = JSON.stringify({ ...deed, towards, by: person.roles, own, visibility, join, policy, frozen })
        expect([about, answer]).toEqual([about, expected])
        seen.set(`${act} ${answer}`, (seen.get(`${act} ${answer}`) ?? 0) + 1)
        const before = new Set(room.roles.keys())
        if (answer === 'ok') done()
        const after = new Set(room.roles.keys())
        const last_seq = await lastOf(chat, room.id)
        for (let seq = room.last_seq + 1; seq <= last_seq; seq++) room.audience.set(seq, { before, after })
        room.last_seq = last_seq
        if (verdict(rooms, room, person, { act: 'read' }) === 'ok') {
          const explained = pickOf(['mention_all', ...SHOWN], pick >> 3)
          const { allowed, reason, right } = await chat.access.explain(OPERATOR, {
            ...{ user_id: person.id, conversation_id: room.id, act: explained as 'post' },
          })
          const reasons = allowed ? 'ok' : `${reason} ${right ?? ''}`.trim()
          expect([about, explained, reasons]).toEqual([
            about,
            explained,
            verdict(rooms, room, person, { act: explained, as: ['post', 'reply'] }),
          ])
          const { can } = await chat.conversations.get(person.actor, room.id)
          const counted = can.filter((each) => each !== 'ask')
          expect([person.roles, room.roles.get(person.name), counted.toSorted()]).toEqual([
            person.roles,
            room.roles.get(person.name),
            canOf(room, person).toSorted(),
          ])
        }
      }
      await assertGot(people, rooms)
      stop.abort()
      await Promise.all(streams.map(({ ended }) => ended))
    })
    await fc.assert(property, { numRuns: RUNS, endOnFailure: true })
    const { findings } = await nodes[0].chat.ops.fsck()
    expect(findings).toEqual([])
    // Runs that never refuse would show nothing.
    if (RUNS >= 10) expect(seen.size).toBeGreaterThan(60)
  })
})
