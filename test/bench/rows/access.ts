import { SignJWT } from 'jose'
import { contextOf } from '../../../lib/core/context-of.ts'
import { type Actor, OPERATOR } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { copyRow } from '../filled/copy-row.ts'
import { httpRequest } from '../load/http.ts'
import { type Bench, interleaveWarm, type Round, type Row } from '../row.ts'
import { DATABASES } from '../servers/each-database.ts'
import { createPeople, withChat } from '../servers/people.ts'
import { compareCpu } from './compared.ts'
import { libraryRows, type MeasuredRoom } from './library.ts'
import { fillThread, inRoomOf, medianMs, type Room } from './reads.ts'

const CONNECTIONS = 64
const SECRET = 'a secret of the benchmark, long enough'
const JWT = { issuer: 'https://shop.example.org', audience: 'chat' }

/** How many rooms the directory has, or participants a room, and what that is compared with. */
const MANY = 100_000
const FEW = 100

/** For short rounds (`--quick`). */
const QUICK_MANY = 5_000
const QUICK_SECONDS = 1

const manyOf = ({ seconds }: Bench) => (seconds > QUICK_SECONDS ? MANY : QUICK_MANY)

/** Who a call is for is found by a signed token, whose signature is checked once, or by a session. */
const byToken = compareCpu(
  {
    name: 'access-jwt',
    title: `CPU of GET /api/auth/me by a signed token, ${CONNECTIONS} connections`,
    peer: 'by a session',
    reach: 2,
    beyond: 1.3,
  },
  CONNECTIONS,
  async (database) => {
    const { people } = await createPeople(database, 1, [])
    const token = await new SignJWT({ name: 'Ada' })
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuer(JWT.issuer)
      .setAudience(JWT.audience)
      .setSubject('ada')
      .setIssuedAt()
      .setExpirationTime('2h')
      .sign(new TextEncoder().encode(SECRET))
    const me = (headers: Record<string, string>) => [httpRequest('GET', '/api/auth/me', { headers })]
    return { service: me({ authorization: `Bearer ${token}` }), peer: me(people[0]!.headers) }
  },
  {
    CHAT_AUTH__JWT__ISSUER: JWT.issuer,
    CHAT_AUTH__JWT__AUDIENCE: JWT.audience,
    CHAT_AUTH__JWT__SECRET: SECRET,
  },
)

/** A server key and the user that its header names are looked up, or a key and its user. */
const byServerKey = compareCpu(
  {
    name: 'access-act-as',
    title: `CPU of GET /api/auth/me by a server key that acts for a user, ${CONNECTIONS} connections`,
    peer: 'by an API key',
    reach: 2,
    beyond: 1.2,
  },
  CONNECTIONS,
  async (database) => {
    const { people } = await createPeople(database, 1, [])
    const { user_id } = people[0]!
    const { server, own } = await withChat(database, async (chat) => ({
      server: (await chat.serverKeys.create(OPERATOR, { name: 'shop', scopes: ['act_as'] })).key,
      own: (await chat.keys.create(await chat.users.actor(user_id), { name: 'script' })).key,
    }))
    const me = (headers: Record<string, string>) => [httpRequest('GET', '/api/auth/me', { headers })]
    return {
      service: me({ authorization: `Bearer ${server}`, 'chat-act-as': `user:${user_id}` }),
      peer: me({ authorization: `Bearer ${own}` }),
    }
  },
)

/** Each page is one range of an index, however many rooms there are. */
const directory: Row[] = DATABASES.map(({ suffix, on, unavailable, open }) => ({
  name: `access-directory${suffix}`,
  title: `the first page of a directory of ${MANY.toLocaleString('en-US')} rooms${on}`,
  unit: 'ms',
  peer: `of ${FEW}`,
  better: 'lower',
  reach: 2,
  beyond: 1.3,
  unavailable,
  measure: (bench) =>
    open((large) =>
      inRoomOf(large, (many) =>
        open((small) =>
          inRoomOf(small, async (few) => {
            await fillRooms(many, manyOf(bench))
            await fillRooms(few, FEW)
            const read = (room: Room) =>
              medianMs(bench, async () => {
                const { conversations } = await room.chat.conversations.directory(room.reader, { limit: 50 })
                if (conversations.length !== 50) throw new Error(`a page had ${conversations.length} rooms`)
              })
            return interleaveWarm(
              bench.rounds,
              () => read(many),
              () => read(few),
            )
          }),
        ),
      ),
    ),
}))

/** How many users join each of the two rooms in a round. */
const JOINS = 50

/** A user who joins a room costs as much in a large one as in a small one. */
const joining: Row[] = libraryRows(
  [
    {
      name: 'access-join',
      title: `joining a room of ${MANY.toLocaleString('en-US')} participants`,
      unit: 'ms',
      peer: `of ${FEW}`,
      better: 'lower',
      reach: 2,
      beyond: 1.3,
    },
  ],
  async (room) => {
    const { bench } = room
    await fillUsers(room, manyOf(bench) + JOINS * 2 * (bench.rounds + 1))
    const [large, small] = [await createRoom(room, manyOf(bench)), await createRoom(room, FEW)]
    if (contextOf(room.chat).db.dialect === 'postgresql') await contextOf(room.chat).db.run(sql`VACUUM ANALYZE`)
    // A user joins few rooms an hour: each of these joins one.
    let next = manyOf(bench)
    const join = (id: string) => async () => {
      const times: number[] = []
      for (let n = 0; n < JOINS; n++) {
        const user: Actor = { user_id: `filled-${next++}`, roles: ['member'] }
        const began = performance.now()
        await room.chat.conversations.join(user, id)
        times.push(performance.now() - began)
      }
      return times.toSorted((a, b) => a - b)[JOINS >> 1]!
    }
    return { 'access-join': await interleaveWarm(bench.rounds, join(large), join(small)) }
  },
)

/** The most messages of a user that a merge moves. */
const MERGED = 2_000

/** A merge is one transaction: it takes its time, and nobody waits for long. */
const merging: Row[] = libraryRows(
  [
    {
      name: 'access-merge',
      title: `merging a user of ${MERGED.toLocaleString('en-US')} messages into another`,
      unit: 'ms',
      better: 'lower',
      reach: 2_000,
      beyond: 500,
    },
    {
      name: 'access-merge-others',
      title: 'the slowest read and post of others meanwhile',
      unit: 'ms',
      better: 'lower',
      reach: 200,
      beyond: 50,
    },
  ],
  async (room) => {
    const merges: Round[] = []
    const others: Round[] = []
    for (let round = -1; round < room.bench.rounds; round++) {
      const { ms, slowest } = await mergeOne(room, round)
      if (round < 0) continue
      merges.push({ service: ms })
      others.push({ service: slowest })
    }
    return { 'access-merge': merges, 'access-merge-others': others }
  },
)

export const access: Row[] = [...byToken, ...byServerKey, ...directory, ...joining, ...merging]

/** Fills a user with messages, and merges it into the reader while others read and post. */
async function mergeOne(room: MeasuredRoom, round: number): Promise<{ ms: number; slowest: number }> {
  const { chat, author, reader, since, conversationId } = room
  const { user } = await chat.users.create(OPERATOR, { username: `from-${round}`, email: `from-${round}@example.org` })
  await chat.participants.add(author, conversationId, { user_id: user.id })
  const from = await chat.users.actor(user.id)
  await fillThread({ ...room, author: from }, MERGED, (n) => since + (round + 2) * MERGED + n)
  const { root_id } = await chat.messages.postRoot(author, conversationId, { content: 'Meanwhile' })
  let isOver = false
  let slowest = 0
  const time = async (call: () => Promise<unknown>) => {
    const began = performance.now()
    await call()
    slowest = Math.max(slowest, performance.now() - began)
  }
  const around = (async () => {
    while (!isOver) {
      await time(() => chat.messages.reply(author, root_id, { content: 'And on' }))
      await time(() => chat.conversations.list(author, {}))
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
  })()
  const began = performance.now()
  const { moved } = await chat.users.merge(OPERATOR, {
    from: { user_id: user.id },
    into: { user_id: reader.user_id },
  })
  const ms = performance.now() - began
  isOver = true
  await around
  if (moved.messages !== MERGED) throw new Error(`${moved.messages} messages were moved`)
  return { ms, slowest }
}

/** Stores listed rooms that are copies of the room but for their titles. */
async function fillRooms({ chat, conversationId }: Room, count: number): Promise<void> {
  const { db } = contextOf(chat)
  const title = `'room ' || n`
  await copyRow(db, {
    table: 'conversations',
    where: sql`id = ${conversationId}`,
    count,
    values: { id: `'filled-' || n`, title, title_key: title, visibility: `'listed'`, ref: 'NULL' },
  })
  if (db.dialect === 'postgresql') await db.run(sql`VACUUM ANALYZE`)
}

/** Stores users who are copies of the reader but for their names. */
function fillUsers({ chat, reader }: Room, count: number): Promise<void> {
  return copyRow(contextOf(chat).db, {
    table: 'users',
    where: sql`id = ${reader.user_id}`,
    count,
    values: {
      id: `'filled-' || n`,
      ...Object.fromEntries(['email', 'email_key'].map((name) => [name, `'filled-' || n || '@example.org'`])),
      ...Object.fromEntries(['username', 'username_key'].map((name) => [name, `'filled-' || n`])),
    },
  })
}

/** Creates a room that anybody may join, in which the first of the filled users are. */
async function createRoom({ chat, author }: Room, count: number): Promise<string> {
  const { db } = contextOf(chat)
  const policy = { join: 'anyone' } as const
  const { conversation_id } = await chat.conversations.create(author, { title: 'Large', visibility: 'listed', policy })
  await copyRow(db, {
    table: 'participants',
    where: sql`conversation_id = ${conversation_id} AND user_id = ${author.user_id}`,
    count,
    values: { user_id: `'filled-' || n`, role: `'member'` },
  })
  await db.write((tx) =>
    tx.run(sql`UPDATE conversations SET participant_count = ${count + 1} WHERE id = ${conversation_id}`),
  )
  return conversation_id
}
