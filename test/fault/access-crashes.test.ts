import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { contextOf } from '../../lib/core/context-of.ts'
import { type Chat, createChatService, OPERATOR, openStorage, parseConfig } from '../../lib/index.ts'
import { type Sql, sql } from '../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { times } from '../support/service.ts'
import { inconsistenciesIn } from './invariants.ts'
import { settle } from './people.ts'
import { type ServerProcess, startProcess } from './process.ts'
import { createRandom, newSeed } from './random.ts'

const USERS = 600
const JOINING = 60
const MERGES = JOINING / 10
const MESSAGES = 40

describeOnEachDatabase('a process that is killed amid joins, automatic joins and merges', (openUrl) => {
  it('has done each of them or none of it, and goes on with the automatic joins', { timeout: 120_000 }, async () => {
    const seed = newSeed()
    console.log(`seed ${seed}`)
    const url = await openUrl()
    const stage = await setStage(url)
    const { chat, ada, users, room, hall } = stage
    const joined = new Set<string>()
    const merged = new Set<string>()
    const [joining, from, into] = [users.slice(-JOINING), users.slice(0, MERGES), users.slice(MERGES, 2 * MERGES)]
    const merge = (n: number) =>
      stage.call('/api/admin/users/merge', { from: { user_id: from[n]! }, into: { user_id: into[n]! } })

    const random = createRandom(seed)
    const inHall = () => stage.count(sql`SELECT count(*) AS n FROM participants WHERE conversation_id = ${hall}`)
    await ada.conversations.rename(hall, { auto_join: 'members' })
    const begun = 0.3 * USERS * random()
    while ((await inHall()) < begun) await sleep(1)
    const act = async (id: string, n: number) => {
      if ((await stage.call(`/api/conversations/${room}/join`, {}, id)).ok) joined.add(id)
      // A merge after each ten.
      const pair = n % 10 === 9 ? (n - 9) / 10 : undefined
      if (pair !== undefined && (await merge(pair)).ok) merged.add(from[pair]!)
    }
    // A call that is cut off may be done or not.
    const calls = Promise.allSettled(joining.map(act))
    const answered = 0.9 * (JOINING + MERGES) * random()
    while (joined.size + merged.size < answered) await sleep(1)
    await stage.kill()
    await calls

    // At once as if the lease of the killed process had expired.
    await contextOf(chat).db.run(sql`UPDATE tasks SET lease_expires_at = 1 WHERE writer IS NOT NULL`)
    await stage.restart()
    await expect.poll(() => stage.count(sql`SELECT count(*) AS n FROM tasks`), { timeout: 60_000 }).toBe(0)
    expect(await inconsistenciesIn(url)).toEqual([])

    const members = await contextOf(chat).db.all<{ user_id: string }>(
      sql`SELECT user_id FROM participants WHERE conversation_id = ${room}`,
    )
    expect(members.map(({ user_id }) => user_id)).toEqual(expect.arrayContaining([...joined]))
    for (const n of times(MERGES, (each) => each)) {
      const ofFrom = await stage.count(sql`SELECT count(*) AS n FROM messages WHERE posted_by = ${from[n]!}`)
      const ofInto = await stage.count(sql`SELECT count(*) AS n FROM messages WHERE posted_by = ${into[n]!}`)
      expect([ofFrom, ofInto]).toBeOneOf(
        merged.has(from[n]!)
          ? [[0, MESSAGES]]
          : [
              [0, MESSAGES],
              [MESSAGES, 0],
            ],
      )
      // Again it is the same, or is done now.
      const answer = (await (await merge(n)).json()) as { moved: object }
      expect(answer.moved).toEqual({ messages: MESSAGES, conversations: expect.any(Number) })
    }
    // Each user who is left has joined the hall, none twice.
    expect(await inHall()).toBe(await stage.count(sql`SELECT count(*) AS n FROM users WHERE system_name IS NULL`))
    expect(await inconsistenciesIn(url)).toEqual([])
  })
})

/** A service in its own process, with users of whom some have written, a room that all may join, and one that they will. */
async function setStage(url: string) {
  let server: ServerProcess = await startProcess(url)
  const { port } = server
  onTestFinished(() => server.kill())
  const ada = await (await settle(server.base_url)).signIn()
  const chat = createChatService(parseConfig({}), await openStorage({ database: url }))
  await chat.start({ background: false })
  onTestFinished(() => chat.close())
  const room = (await ada.conversations.create({ title: 'Engines' })).conversation_id
  await ada.conversations.rename(room, { visibility: 'listed', policy: { join: 'anyone' } })
  const hall = (await ada.conversations.create({ title: 'Hall' })).conversation_id
  const users = await createUsers(chat)
  for (const id of users.slice(0, MERGES)) {
    const actor = await chat.users.actor(id)
    await chat.conversations.join(actor, room)
    const { message_id } = await chat.messages.postRoot(actor, room, { content: 'One of many' })
    await Promise.all(times(MESSAGES - 1, () => chat.messages.reply(actor, message_id, { content: 'More of it' })))
  }
  const { key } = await chat.serverKeys.create(OPERATOR, { name: 'host', scopes: ['act_as', 'users'] })
  return {
    chat,
    ada,
    users,
    room,
    hall,
    /** Calls with a server key, maybe for a user. */
    call: (path: string, body: object, actAs?: string): Promise<Response> =>
      fetch(server.base_url + path, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          ...(actAs && { 'chat-act-as': `user:${actAs}` }),
        },
        body: JSON.stringify(body),
      }),
    count: async (query: Sql): Promise<number> => Number((await contextOf(chat).db.get<{ n: number }>(query))!.n),
    kill: () => server.kill(),
    restart: async () => {
      server = await startProcess(url, { port })
    },
  }
}

async function createUsers(chat: Chat): Promise<string[]> {
  const ids: string[] = []
  for (let n = 0; n < USERS; n++) {
    const { user } = await chat.users.create(OPERATOR, { username: `user${n}`, email: `user${n}@example.org` })
    ids.push(user.id)
  }
  return ids
}
