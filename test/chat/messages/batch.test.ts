import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { Actor } from '../../../lib/core/actor.ts'
import { createChatService, OPERATOR, openStorage, parseConfig } from '../../../lib/index.ts'
import type { Storage } from '../../../lib/storage/open.ts'
import { type Sql, sql, statement } from '../../../lib/storage/sql.ts'
import { promised } from '../../storage/handles.ts'
import { addCrowd, rowsRead } from '../../support/crowd.ts'
import { copyPostgresDatabase, describeOnEachDatabase } from '../../support/databases.ts'
import {
  innerState,
  PASSWORD,
  type Person,
  startService,
  startThreadAlone,
  type TestService,
  times,
} from '../../support/service.ts'

/** Counts the statements of transactions. */
function counting(counts: { statements: number }): (storage: Storage) => Storage {
  return ({ db, ...storage }) => ({
    ...storage,
    db: {
      ...db,
      write: (work, options) =>
        db.write((tx) => {
          const counted = <Result>(run: (sql: Sql) => Result) => {
            return (sql: Sql): Result => {
              // Processes report at intervals that they live.
              if (!/ (tasks|nodes|node_presence) /.test(sql.text)) counts.statements++
              return run(sql)
            }
          }
          return work({
            ...tx,
            all: counted(tx.all) as typeof tx.all,
            get: counted(tx.get) as typeof tx.get,
            run: counted(tx.run),
          })
        }, options),
    },
  })
}

describeOnEachDatabase('posts that wait together', (openUrl, dialect) => {
  const counts = { statements: 0 }
  let service: TestService
  let [ada, grace, viewer]: Person[] = []
  let actors: Record<'ada' | 'grace' | 'viewer' | 'outsider', Actor>
  beforeAll(async () => {
    // What brings messages into the search index comes later, and would be counted.
    const config = { limits: { max_depth: 3 }, search: { enabled: false } }
    service = await startService(await openUrl(), { wrap: counting(counts), config })
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    viewer = await service.signIn('viewer')
    const outsider = await service.signIn('outsider')
    const actorOf = ({ id }: Person) => service.chat.users.actor(id)
    actors = {
      ada: await actorOf(ada),
      grace: await actorOf(grace),
      viewer: await actorOf(viewer),
      outsider: await actorOf(outsider),
    }
  })
  afterAll(() => service.close())

  async function createRoom(): Promise<{ conversation_id: string; root_id: string }> {
    const { conversation_id } = await service.chat.conversations.create(actors.ada)
    await service.chat.participants.add(actors.ada, conversation_id, { user_id: grace!.id })
    await service.chat.participants.add(actors.ada, conversation_id, { user_id: viewer!.id, role: 'viewer' })
    const { root_id } = await service.chat.messages.postRoot(actors.ada, conversation_id, { content: 'root' })
    return { conversation_id, root_id }
  }

  it('get places, instants and counts as if they came one after another', async () => {
    const { chat } = service
    const [one, other] = [await createRoom(), await createRoom()]
    const nested = await chat.messages.reply(actors.grace, one.root_id, { content: 'before' })
    const posted = await Promise.all(
      times(40, (n) => {
        const actor = n % 2 ? actors.ada : actors.grace
        const content = `post ${n}`
        if (n % 8 === 0) return chat.messages.postRoot(actor, (n % 16 ? one : other).conversation_id, { content })
        return chat.messages.reply(actor, [one.root_id, nested.message_id, other.root_id][n % 3]!, { content })
      }),
    )
    expect(new Set(posted.map((each) => each.message_id)).size).toBe(40)
    for (const { conversation_id, root_id } of [one, other]) {
      const { messages } = await ada!.threads.tree(root_id, { limit: 100 })
      for (const { id } of messages) {
        const children = messages.filter((message) => message.parent_id === id)
        // A path ends with the ordinal, in base 36; they count from 0 without a gap.
        expect(children.map(({ path }) => path.slice(-1))).toEqual(times(children.length, (i) => i.toString(36)))
      }
      const here = posted.flatMap(({ message }) =>
        message.conversation_id === conversation_id ? message.created_at : [],
      )
      expect(new Set(here).size).toBe(here.length)
      const { threads } = await ada!.threads.list(conversation_id)
      const thread = threads.find((each) => each.root_id === root_id)!
      expect(thread).toMatchObject({ message_count: messages.length, participant_count: 2 })
    }
    expect((await chat.ops.fsck()).findings).toEqual([])
  })

  it('are each refused for themselves', async () => {
    const { chat } = service
    const { conversation_id, root_id } = await createRoom()
    const deleted = await chat.messages.reply(actors.ada, root_id, { content: 'deleted' })
    await chat.messages.remove(actors.ada, deleted.message_id)
    let parent_id = root_id
    for (let depth = 1; depth <= 3; depth++)
      parent_id = (await chat.messages.reply(actors.ada, parent_id, { content: `depth ${depth}` })).message_id
    const { messages } = chat
    const codes = await Promise.all(
      [
        messages.reply(actors.ada, root_id, { content: 'fine' }),
        messages.reply(actors.outsider, root_id, { content: 'of an outsider' }),
        messages.reply(actors.viewer, root_id, { content: 'of a viewer' }),
        messages.reply(actors.ada, deleted.message_id, { content: 'below a deleted message' }),
        messages.reply(actors.ada, parent_id, { content: 'too deep' }),
        messages.reply(actors.ada, conversation_id, { content: 'below a conversation' }),
        messages.postRoot(actors.outsider, conversation_id, { content: 'of an outsider' }),
        messages.postRoot(actors.ada, root_id, { content: 'in a message' }),
        messages.reply(actors.grace, root_id, { content: 'fine too' }),
      ].map((post) => post.then(() => 'stored', codeOfError)),
    )
    expect(codes).toEqual([
      'stored',
      'not_found',
      'forbidden',
      'message_deleted',
      'thread_too_deep',
      'not_found',
      'not_found',
      'not_found',
      'stored',
    ])
    const { messages: stored } = await ada!.threads.tree(root_id, { limit: 100 })
    expect(stored.filter((message) => message.content.startsWith('fine')).length).toBe(2)
    expect((await chat.ops.fsck()).findings).toEqual([])
  })

  it.runIf(dialect === 'postgresql')('take no more statements than one alone', async () => {
    const { chat } = service
    const rooms = await Promise.all(times(5, createRoom))
    const measure = async (count: number) => {
      const before = counts.statements
      await Promise.all(
        times(count, (n) => chat.messages.reply(actors.ada, rooms[n % 5]!.root_id, { content: `post ${n}` })),
      )
      return counts.statements - before
    }
    const alone = await measure(1)
    // The place, the parent, what is stored, the lists and the numbers of followers, and the events.
    expect(alone).toBeLessThanOrEqual(7)
    expect(await measure(50)).toBe(alone)
  })

  it('let a user follow from the mention on who replies after it, unless the user does not want to', async () => {
    const { chat } = service
    const { conversation_id, root_id } = await createRoom()
    const other = await chat.messages.postRoot(actors.ada, conversation_id, { content: 'another root' })
    await chat.threads.unfollow(actors.grace, other.root_id)
    await chat.conversations.markRead(actors.grace, conversation_id, {})
    for (const [root, unread] of [
      [root_id, 3],
      [other.root_id, 1],
    ] as const) {
      const post = (actor: Actor, content: string) => chat.messages.reply(actor, root, { content })
      await Promise.all([
        post(actors.ada, 'Look, @grace.'),
        post(actors.ada, 'It runs.'),
        post(actors.grace, 'So it does.'),
        post(actors.ada, 'On steam.'),
      ])
      const { threads } = await chat.threads.list(actors.grace, conversation_id)
      expect(threads.find((thread) => thread.root_id === root)).toMatchObject({ following: true, unread_replies: 3 })
      expect((await chat.threads.unread(actors.grace, conversation_id)).unread_replies).toBe(unread)
      await chat.conversations.markRead(actors.grace, conversation_id, { all: true })
    }
    expect((await chat.ops.fsck()).findings).toEqual([])
  })

  it.runIf(dialect === 'postgresql')('do not wait for a conversation that another process has locked', async () => {
    const { chat } = service
    const [locked, free] = [await createRoom(), await createRoom()]
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    let began = () => {}
    const lockHeld = new Promise<void>((resolve) => {
      began = resolve
    })
    const holder = innerState(chat).db.write(async (tx) => {
      await tx.get(sql`SELECT id FROM conversations WHERE id = ${locked.conversation_id} FOR UPDATE`)
      began()
      await released
    })
    await lockHeld
    let isStored = false
    const waiting = times(3, (n) => chat.messages.reply(actors.ada, locked.root_id, { content: `waits ${n}` }))
    void Promise.all(waiting).then(() => {
      isStored = true
    })
    await chat.messages.reply(actors.ada, free.root_id, { content: 'does not wait' })
    expect(isStored).toBe(false)
    release()
    await holder
    const paths = (await Promise.all(waiting)).map(({ message }) => message.path)
    expect(new Set(paths).size).toBe(3)
  })

  it.runIf(dialect === 'postgresql')(
    'with a key, cannot deadlock with a change that refers to their author',
    async () => {
      const { chat } = service
      const { conversation_id } = await createRoom()
      const { db } = innerState(chat)
      const [held, go] = [promised(), promised()]
      const holder = db.write(async (tx) => {
        await tx.get(sql`SELECT id FROM conversations WHERE id = ${conversation_id} FOR UPDATE`)
        held.resolve()
        await go.promise
        // As a foreign key does when a participant is added.
        await tx.get(sql`SELECT id FROM users WHERE id = ${ada!.id} FOR KEY SHARE NOWAIT`)
      })
      await held.promise
      const post = chat.messages.postRoot(actors.ada, conversation_id, { content: 'once', idempotency_key: 'deadlock' })
      const waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
      while (!(await db.get(statement(waits))));
      go.resolve()
      await holder
      await post
    },
  )
})

const codeOfError = (error: { code: string }) => error.code

const FAST = { security: { password: { bcrypt_cost: 4 } } }

describe.skipIf(!inject('postgres_url'))('a post on PostgreSQL', () => {
  it('finds each of thousands of readers by index, also in a new database', async () => {
    const database = await copyPostgresDatabase()
    const storage = await openStorage({ database: database.url })
    try {
      await storage.migrate()
      const plan = await storage.db.write(async (tx) => {
        await tx.run(
          sql`INSERT INTO users (id, email, email_key, username, username_key, roles, created_at, updated_at)
           SELECT n, n, n, n, n, 'member', 1, 1 FROM (SELECT g::text AS n FROM generate_series(1, 5000) g) AS given`,
        )
        await tx.run(
          sql`INSERT INTO conversations (id, title, is_group, created_at, last_seq, clock) VALUES ('c', '', 1, 1, 0, 0)`,
        )
        await tx.run(
          sql`INSERT INTO participants (conversation_id, user_id, role, joined_at) SELECT 'c', id, 'member', 1 FROM users`,
        )
        return tx.all(
          sql`EXPLAIN UPDATE participants SET seen_count = 0
             FROM (SELECT q.user_id, greatest(q.joined_at, coalesce(r.read_at, 0)) AS seen_to
                     FROM participants q LEFT JOIN thread_members r ON r.root_id = 'r' AND r.user_id = q.user_id
                    WHERE q.conversation_id = 'c') AS p
            WHERE participants.conversation_id = 'c' AND participants.user_id = p.user_id AND p.seen_to >= 1`,
        )
      })
      expect(JSON.stringify(plan)).toContain('Index Cond')
      expect(JSON.stringify(plan)).not.toContain('Join Filter')
    } finally {
      await storage.close()
      await database.remove()
    }
  })

  it('reads the rows that it concerns, also in a new database, of which the planner knows nothing', async () => {
    const database = await copyPostgresDatabase()
    const chat = createChatService(parseConfig(FAST), await openStorage({ database: database.url }))
    const storage = await openStorage({ database: database.url })
    try {
      await chat.start({ background: false })
      await chat.setup.run({ email: 'ada@example.org', password: PASSWORD })
      const { users } = await chat.users.list(OPERATOR, {})
      const ada = await chat.users.actor(users[0]!.id)
      const roots: string[] = []
      for (const _ of times(60, () => 0)) {
        const { conversation_id } = await chat.conversations.create(ada)
        roots.push((await chat.messages.postRoot(ada, conversation_id, { content: 'root' })).root_id)
      }
      for (const _ of times(10, () => 0))
        await Promise.all(roots.map((root) => chat.messages.reply(ada, root, { content: 'reply' })))
      // A server process reports what it has read when its connection closes.
      await chat.close()
      const reads = await rowsRead(storage, { messages: 660 })
      for (const table of ['conversations', 'participants', 'messages', 'threads', 'thread_members'])
        expect([table, Number(reads.get(table))]).toEqual([table, expect.toSatisfy((read) => read < 12 * 660)])
    } finally {
      await storage.close()
      await database.remove()
    }
  })

  it('reads the rows that a plain root concerns, also in a new database', async () => {
    const database = await copyPostgresDatabase()
    const chat = createChatService(parseConfig(FAST), await openStorage({ database: database.url }))
    const storage = await openStorage({ database: database.url })
    try {
      const { ada, conversation_id } = await startThreadAlone(chat)
      const places = [conversation_id]
      for (const _ of times(60, () => 0)) places.push((await chat.conversations.create(ada)).conversation_id)
      const post = () => Promise.all(places.map((place) => chat.messages.postRoot(ada, place, { content: 'root' })))
      for (const _ of times(10, () => 0)) await post()
      await chat.close()
      const reads = await rowsRead(storage, { messages: 611 })
      for (const table of ['conversations', 'participants', 'messages', 'threads', 'thread_members'])
        expect([table, Number(reads.get(table))]).toEqual([table, expect.toSatisfy((read) => read < 12 * 611)])
    } finally {
      await storage.close()
      await database.remove()
    }
  })

  it('reads no more by plans of a connection that were made when there were few messages', async () => {
    const database = await copyPostgresDatabase()
    const storage = await openStorage({ database: database.url })
    const chat = createChatService(parseConfig(FAST), await openStorage({ database: database.url }))
    try {
      const { ada, root_id } = await startThreadAlone(chat)
      const post = (count: number) =>
        Promise.all(times(count, (n) => chat.messages.reply(ada, root_id, { content: `reply ${n}` })))
      await post(159)
      // A connection keeps a plan from the sixth run on.
      for (const _ of times(10, () => 0)) await post(1)
      for (const _ of times(40, () => 0)) await post(20)
      await chat.close()
      const reads = await rowsRead(storage, { messages: 970 })
      for (const table of ['conversations', 'participants', 'messages', 'threads', 'thread_members'])
        expect([table, Number(reads.get(table))]).toEqual([table, expect.toSatisfy((read) => read < 12 * 970)])
    } finally {
      await storage.close()
      await database.remove()
    }
  })

  it('reads no more where conversations, threads and users differ by far from the average', async () => {
    const database = await copyPostgresDatabase()
    const open = () => openStorage({ database: database.url })
    const storage = await open()
    const seeding = await open()
    try {
      await seeding.migrate()
      const first = createChatService(parseConfig(FAST), seeding)
      const { ada, conversation_id, root_id } = await startThreadAlone(first)
      await Promise.all(times(100, (n) => first.messages.reply(ada, root_id, { content: `${n}` })))
      await addCrowd(seeding, { conversation_id, root_id, author_id: ada.user_id })
      await first.close()
      const before = await rowsRead(storage, { participants: 2998, thread_members: 1000, messages: 101 })

      // With the statistics of now.
      const chat = createChatService(parseConfig(FAST), await open())
      await chat.start({ background: false })
      const last = await chat.users.actor('p-999')
      for (const n of times(20, (n) => n)) await chat.messages.reply(last, root_id, { content: `reply ${n} to @p-998` })
      await chat.close()
      const after = await rowsRead(storage, { messages: 121 })
      for (const table of ['conversations', 'participants', 'messages', 'threads', 'thread_members'])
        expect([table, after.get(table)! - before.get(table)!]).toEqual([
          table,
          expect.toSatisfy((read) => read < 20 * 20),
        ])
    } finally {
      await storage.close()
      await database.remove()
    }
  })
})
