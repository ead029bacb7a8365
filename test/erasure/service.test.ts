import { beforeAll, expect, it } from 'vitest'
import type { AssistantRequest } from '../../lib/assistant/provider.ts'
import { erase as eraseUser, resume } from '../../lib/erasure/service.ts'
import { insertErasedAuthor } from '../../lib/erasure/store.ts'
import { OPERATOR } from '../../lib/index.ts'
import { exportArchive } from '../../lib/storage/archive/export.ts'
import { sql, statement } from '../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { setUpService } from '../support/describe-service.ts'
import { codeOf, innerState, PASSWORD, type Person, startService, startThread, times } from '../support/service.ts'
import { openStream, signInByHand } from '../support/stream.ts'

/** Yields a word and then waits for the abort. */
async function* assistant({ signal }: AssistantRequest) {
  yield 'SECRET beginning'
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
}

describeOnEachDatabase('an erased user', (openUrl) => {
  const service = setUpService(async () =>
    startService(await openUrl(), {
      ports: { assistant },
      config: { session: { max_sessions_per_user: 100 } },
    }),
  )
  let ada: Person
  let n = 0
  beforeAll(async () => {
    ada = await service.signIn('ada')
  })

  const erase = async (person: { id: string }, query: { messages?: 'keep' | 'erase' } = {}) => {
    await ada.users.erase(person.id, query)
    await innerState(service).tasks.settle()
  }

  /** A conversation of Ada with Grace and Linus, new users each time. */
  async function begin() {
    const [grace, linus] = [await service.signIn(`grace-${n}`), await service.signIn(`linus-${n++}`)]
    const { conversation_id } = await ada.conversations.create({ title: 'Engines' })
    const params = { conversation_id }
    for (const { id } of [grace, linus]) await ada.participants.add(conversation_id, { user_id: id })
    const post = async (person: Person, content: string) =>
      (await person.messages.postRoot(conversation_id, { content })).message_id
    const reply = async (person: Person, parent_id: string, content: string) =>
      (await person.messages.reply(parent_id, { content })).message_id
    return { grace, linus, conversation_id, params, post, reply }
  }

  async function expectCountersRight(reader: Person, conversation_id: string) {
    const _params = { conversation_id }
    const { threads } = await reader.threads.list(conversation_id, { limit: 200 })
    for (const thread of threads) {
      const { messages } = await reader.threads.tree(thread.root_id, { limit: 500 })
      const live = messages.filter((message) => !message.deleted_at)
      expect(thread).toMatchObject({
        message_count: live.length,
        participant_count: new Set(live.map((message) => message.author_user_id ?? message.requested_by)).size,
      })
    }
    const { threads: unread } = await reader.threads.unread(conversation_id)
    const listed = threads.filter((thread) => thread.unread! > 0)
    expect(unread).toEqual(listed.map(({ root_id, unread }) => ({ root_id, unread })))
    return new Map(threads.map((thread) => [thread.root_id, thread.unread]))
  }

  it('cannot sign in, and frees name and address for others', async () => {
    const { grace, conversation_id } = await begin()
    const { cookie } = await signInByHand(service.base_url, grace.email, PASSWORD)
    const stream = await openStream(service.base_url, conversation_id, { cookie })
    await stream.until('stream.ready')
    await erase(grace)
    await stream.until('stream.closed')
    expect(await codeOf(grace.auth.me())).toBe('unauthenticated')
    const login = service.client().auth.login({ email: grace.email, password: PASSWORD })
    expect(await codeOf(login)).toBe('invalid_credentials')
    expect(await codeOf(erase(grace))).toBe('not_found')
    expect((await ada.conversations.get(conversation_id)).participants.map((each) => each.user_id)).not.toContain(
      grace.id,
    )
    const again = await service.signIn(grace.email.split('@')[0]!)
    expect(again.id).not.toBe(grace.id)
    const { db } = innerState(service)
    for (const table of ['sessions', 'participants', 'identities', 'api_keys', 'password_resets', 'known_devices'])
      expect(await db.all(statement(`SELECT user_id FROM ${table} WHERE user_id = ?`, [grace.id])), table).toEqual([])
    expect(await db.all(sql`SELECT * FROM thread_members WHERE user_id = ${grace.id}`)).toEqual([])
    expect(await db.all(sql`SELECT * FROM messages WHERE posted_by = ${grace.id}`)).toEqual([])
  })

  it('leaves messages without an author, and every count unchanged', async () => {
    const { grace, linus, conversation_id, post, reply } = await begin()
    const mine = await post(grace, 'by Grace')
    const middle = await reply(linus, mine, 'by Linus')
    const leaf = await reply(grace, middle, 'by Grace again')
    const gone = await reply(grace, middle, 'deleted by Grace')
    await grace.messages.remove(gone, { reason: 'wrong room' })
    expect((await ada.messages.get(gone)).delete_reason).toBe('wrong room')
    const other = await post(linus, 'by Linus')
    await ada.threads.markRead(mine, { message_id: middle })
    const before = await expectCountersRight(ada, conversation_id)
    const linusBefore = await expectCountersRight(linus, conversation_id)

    await erase(grace)
    const { messages } = await ada.threads.tree(mine)
    expect(messages.map((message) => message.content)).toEqual(['by Grace', 'by Linus', 'by Grace again', ''])
    expect(messages.map((message) => message.author_user_id)).toEqual([undefined, linus.id, undefined, undefined])
    expect(messages.map((message) => message.delete_reason)).toEqual([undefined, undefined, undefined, undefined])
    expect(await expectCountersRight(ada, conversation_id)).toEqual(before)
    expect(await expectCountersRight(linus, conversation_id)).toEqual(linusBefore)

    // Messages without an author work like others: they can be deleted, restored, answered and counted.
    await ada.messages.remove(leaf)
    await expectCountersRight(linus, conversation_id)
    await ada.messages.restore(leaf)
    await ada.messages.restore(gone)
    await reply(linus, leaf, 'still here')
    await ada.threads.markRead(mine, {})
    expect((await expectCountersRight(ada, conversation_id)).get(mine)).toBe(0)
    await expectCountersRight(linus, conversation_id)
    expect((await ada.threads.tree(other)).messages).toHaveLength(1)

    // A second author without a name counts together with the first as one.
    await erase(linus)
    await expectCountersRight(ada, conversation_id)
  })

  it('can be erased with all messages, and every thread stays intact', async () => {
    const { grace, linus, conversation_id, post, reply } = await begin()
    const mine = await post(grace, 'SECRET root')
    const middle = await reply(linus, mine, 'by Linus')
    const leaf = await reply(grace, middle, 'SECRET first')
    await grace.messages.edit(leaf, { content: 'SECRET second' })
    const gone = await reply(grace, middle, 'SECRET deleted')
    await ada.messages.remove(gone, { reason: 'SECRET reason' })
    const other = await post(linus, 'by Linus')
    const ask = { content: 'SECRET question', role: 'assistant' as const }
    const { message_id: answer } = await grace.messages.postRoot(conversation_id, ask)
    await ada.threads.markRead(mine, {})

    const { cookie } = await signInByHand(service.base_url, linus.email, PASSWORD)
    const stream = await openStream(service.base_url, conversation_id, { cookie })
    await stream.until('stream.ready')
    await erase(grace, { messages: 'erase' })

    const left = await stream.until('membership.changed')
    expect(left.at(-1)!.event.payload).toEqual({ conversation_id, user_id: grace.id, action: 'removed' })
    const told: unknown[] = []
    for (const id of [mine, leaf, answer]) {
      const seen = await stream.until('message.deleted', (event) => JSON.stringify(event).includes(id))
      told.push(...seen)
    }
    const { messages } = await linus.threads.tree(mine)
    expect(messages.map((message) => [message.id, message.content, Boolean(message.deleted_at)])).toEqual([
      [mine, '', true],
      [middle, 'by Linus', false],
      [leaf, '', true],
      [gone, '', true],
    ])
    await innerState(service).answers.idle()
    expect(await linus.answers.listChunks(answer)).toEqual([])
    expect(await linus.messages.get(answer)).toMatchObject({
      content: '',
      status: 'cancelled',
      deleted_at: expect.any(String),
    })
    expect((await linus.messages.listRevisions(leaf)).revisions).toEqual([])
    const { threads } = await linus.threads.list(conversation_id)
    expect(threads.map((thread) => thread.root_excerpt).sort()).toEqual(['', '', 'by Linus'])
    const zero = new Map([mine, other, answer].map((root_id) => [root_id, 0]))
    expect(await expectCountersRight(linus, conversation_id)).toEqual(zero)
    expect(await expectCountersRight(ada, conversation_id)).toEqual(new Map([...zero, [other, 1]]))

    for (const message_id of [leaf, gone, answer])
      expect(await codeOf(ada.messages.restore(message_id))).toBe('conflict')
    await reply(linus, middle, 'life goes on')
    const counts = new Map([...zero, [other, 1], [mine, 1]])
    expect(await expectCountersRight(ada, conversation_id)).toEqual(counts)

    const replay = await openStream(service.base_url, conversation_id, {
      cookie,
      last_event_id: `${(await ada.conversations.get(conversation_id)).stream_position!.split('.')[0]}.0`,
    })
    const replayed = await replay.until('message.new', (event) => JSON.stringify(event).includes('life goes on'))
    expect(JSON.stringify([told, replayed])).not.toContain('SECRET')
    const { db } = innerState(service)
    for (const table of ['messages', 'message_revisions', 'message_chunks'])
      expect(JSON.stringify(await db.all(statement(`SELECT * FROM ${table}`))), table).not.toContain('SECRET')
    await Promise.all([stream.close(), replay.close()])
  })

  it('has no answer in progress', async () => {
    const { grace, params } = await begin()
    const { cookie } = await signInByHand(service.base_url, ada.email, PASSWORD)
    const stream = await openStream(service.base_url, params.conversation_id, { cookie })
    // Events before `stream.ready` may be part of what a client has loaded.
    await stream.until('stream.ready')
    const { message_id } = await grace.messages.postRoot(params.conversation_id, {
      content: 'question',
      role: 'assistant',
    })
    await stream.until('message.delta')
    await erase(grace)
    const done = (await stream.until('message.done')).at(-1)!
    expect(done.event.payload).toMatchObject({ message_id, finish_reason: 'cancelled' })
    await innerState(service).answers.idle()
    const answer = await ada.messages.get(message_id)
    expect(answer).toMatchObject({ status: 'cancelled', content: 'SECRET beginning', prompt: 'question' })
    expect(answer).not.toHaveProperty('requested_by')
    await stream.close()
  })

  it('is removed as the author in conversations left long ago', async () => {
    const { grace, params, post } = await begin()
    const root_id = await post(grace, 'by Grace')
    await grace.participants.remove(params.conversation_id, grace.id)
    await erase(grace, { messages: 'erase' })
    const [message] = (await ada.threads.tree(root_id)).messages
    expect(message).toMatchObject({ content: '', deleted_at: expect.any(String) })
    expect(message).not.toHaveProperty('author_user_id')
  })

  it.each([
    ['the longest-standing admin', ['viewer', 'member', 'admin', 'admin'], 2],
    ['else the longest-standing member', ['viewer', 'member', 'member'], 1],
    ['else the longest-standing viewer', ['viewer', 'viewer'], 0],
  ] as const)('leaves what no other user owns to %s', async (_, roles, heir) => {
    const owner = await service.signIn(`owner-${n++}`)
    const { conversation_id } = await owner.conversations.create({})
    const _params = { conversation_id }
    const people: Person[] = []
    for (const role of roles) {
      const person = await service.signIn(`heir-${n++}`)
      await owner.participants.add(conversation_id, { user_id: person.id, role })
      people.push(person)
    }
    await erase(owner)
    const { participants } = await people[heir]!.conversations.get(conversation_id)
    expect(participants.map((each) => each.role)).toEqual(roles.map((role, i) => (i === heir ? 'owner' : role)))
  })

  it('deletes conversations without other participants, and leaves those with another owner unchanged', async () => {
    const { grace, params } = await begin()
    const alone = await grace.conversations.create({})
    await grace.messages.postRoot(alone.conversation_id, { content: 'to myself' })
    await erase(grace)
    const { db } = innerState(service)
    expect(await db.all(sql`SELECT id FROM conversations WHERE id = ${alone.conversation_id}`)).toEqual([])
    const { participants } = await ada.conversations.get(params.conversation_id)
    expect(participants.map((each) => each.role)).toEqual(['owner', 'member'])
  })

  it('leaves no usable invite, as creator or as recipient', async () => {
    const { grace, linus, params } = await begin()
    await ada.participants.changeRole(params.conversation_id, grace.id, { role: 'admin' })
    const { token = '' } = await grace.invites.create(params.conversation_id, { max_uses: 5 })
    const theirs = await ada.invites.create(params.conversation_id, { email: grace.email })
    const another = await ada.invites.create(params.conversation_id, {})
    await erase(grace)
    const eve = await service.signIn(`eve-${n++}`)
    expect(await codeOf(eve.invites.accept({ token }))).toBe('invite_revoked')
    expect(await codeOf(eve.invites.accept({ token: theirs.token! }))).toBe('not_found')
    await linus.invites.accept({ token: another.token! })
    await eve.invites.accept({ token: another.token! })
  })

  it('is erased once by two concurrent calls, and completely after an interrupted call', async () => {
    const { grace, linus, params, post } = await begin()
    for (const i of times(12, (i) => i)) {
      await post(grace, `SECRET ${i}`)
      await grace.conversations.create({})
    }
    const actor = await service.chat.users.actor(ada.id)
    const results = await Promise.allSettled(
      times(3, () => service.chat.users.erase(actor, grace.id, { messages: 'erase' })),
    )
    await innerState(service).tasks.settle()
    for (const result of results) if (result.status === 'rejected') expect(result.reason.code).toBe('not_found')
    expect(results.some((result) => result.status === 'fulfilled')).toBe(true)
    const { entries } = await service.chat.audit.list(actor, { user_id: grace.id, act: 'user.erased' })
    expect(entries).toHaveLength(1)
    await expectCountersRight(linus, params.conversation_id)
    const contents = await innerState(service).db.all(sql`SELECT content FROM messages`)
    expect(JSON.stringify(contents)).not.toContain('SECRET 1')
  })

  it('is erased while others write, and every count stays correct', async () => {
    const { grace, linus, params, post, reply } = await begin()
    const root = await post(linus, 'root')
    await Promise.all(times(40, (i) => reply(i % 2 ? grace : linus, root, `reply ${i}`)))
    const writes = times(20, (i) => reply(linus, root, `meanwhile ${i}`))
    await Promise.all([erase(grace, { messages: 'erase' }), ...writes])
    await expectCountersRight(linus, params.conversation_id)
    await expectCountersRight(ada, params.conversation_id)
  })
})

describeOnEachDatabase('an erased user with many messages', (openUrl) => {
  it.each(['keep', 'erase'] as const)(
    'is erased from every thread and every part of it (%s)',
    async (messages) => {
      const service = await startService(await openUrl())
      const actorOf = async (name: string) => service.chat.users.actor((await service.signIn(name)).id)
      const [ada, grace] = [await actorOf('ada'), await actorOf('grace')]
      const { conversation_id } = await service.chat.conversations.create(ada)
      await service.chat.participants.add(ada, conversation_id, { user_id: grace.user_id })
      const post = (by: typeof ada) => service.chat.messages.postRoot(by, conversation_id, { content: 'root' })
      const first = await post(ada)
      const reply = (i: number) =>
        service.chat.messages.reply(i % 3 ? grace : ada, first.root_id, { content: `reply ${i}` })
      for (const batch of times(9, (i) => i * 50)) await Promise.all(times(50, (i) => reply(batch + i)))
      const { db, id } = innerState(service)
      const elsewhere = await service.chat.conversations.create(ada)
      await db.run(
        statement(
          `INSERT INTO threads (root_id, conversation_id, created_at, last_activity_at, message_count, participant_count)
       VALUES ${times(1_000, () => '(?, ?, 0, ?, 0, 0)').join(', ')}`,
          times(1_000, (i) => [id(), elsewhere.conversation_id, i]).flat(),
        ),
      )
      const last = await post(grace)
      await service.chat.users.erase(OPERATOR, grace.user_id, { messages })
      await innerState(service).tasks.settle()

      expect(await db.all(sql`SELECT id FROM messages WHERE posted_by = ${grace.user_id}`)).toEqual([])
      expect(await db.all(sql`SELECT root_id FROM thread_members WHERE user_id = ${grace.user_id}`)).toEqual([])
      const counters = async (root_id: string) =>
        db.get(sql`SELECT message_count, participant_count FROM threads WHERE root_id = ${root_id}`)
      const kept = messages === 'keep'
      expect(await counters(first.root_id)).toEqual({
        message_count: kept ? 451 : 151,
        participant_count: kept ? 2 : 1,
      })
      expect(await counters(last.root_id)).toEqual({ message_count: kept ? 1 : 0, participant_count: kept ? 1 : 0 })
      const { threads } = await service.chat.threads.list(ada, conversation_id, { limit: 200 })
      expect(threads[0]).toMatchObject({ root_id: last.root_id, unread: kept ? 1 : 0 })
      expect(threads[1]).toMatchObject({ root_id: first.root_id, unread: kept ? 300 : 0 })
      await service.close()
    },
    60_000,
  )
})

describeOnEachDatabase('an interrupted erasure', (openUrl) => {
  it('is finished by the task, wherever it stopped', async () => {
    let left = Number.POSITIVE_INFINITY
    const service = await startService(await openUrl(), {
      wrap: (storage) => ({
        ...storage,
        db: {
          ...storage.db,
          write: (work) => {
            if (left-- > 0) return storage.db.write(work)
            return Promise.reject(new Error('the process is gone'))
          },
        },
      }),
    })
    const ada = await service.chat.users.actor((await service.signIn('ada')).id)
    for (let steps = 1, isCutShort = true; isCutShort; steps++) {
      const name = `grace-${steps}`
      const grace = await service.chat.users.actor((await service.signIn(name)).id)
      const { conversation_id } = await service.chat.conversations.create(grace, {})
      await service.chat.participants.add(grace, conversation_id, { user_id: ada.user_id })
      await service.chat.messages.postRoot(grace, conversation_id, { content: 'SECRET' })
      left = steps
      isCutShort = await service.chat.users.erase(OPERATOR, grace.user_id, { messages: 'erase' }).then(
        () => false,
        (error: Error) => error.message === 'the process is gone',
      )
      left = Number.POSITIVE_INFINITY
      // Hidden from the first transaction on.
      const { threads } = await service.chat.threads.list(ada, conversation_id, {})
      expect(threads).toMatchObject([{ root_excerpt: '', message_count: 0, participant_count: 0, unread: 0 }])
      await innerState(service).tasks.settle()
      expect(await service.chat.threads.list(ada, conversation_id, {})).toMatchObject({ threads })
      expect(await codeOf(service.chat.users.find(OPERATOR, name))).toBe('not_found')
    }
    const contents = await innerState(service).db.all(sql`SELECT content FROM messages`)
    expect(JSON.stringify(contents)).not.toContain('SECRET')
    await service.close()
  })
})

describeOnEachDatabase('messages of an erased user', (openUrl) => {
  it('are hidden before they are removed, and reads return the same afterwards', async () => {
    const url = await openUrl()
    const service = await startService(url)
    for (const node of service.nodes) await innerState(node).tasks.stop()
    const { ada, grace, eve, conversation_id, root } = await startThread(service)
    const _params = { conversation_id }
    await ada.participants.add(conversation_id, { user_id: eve.id })
    const reply = async (person: Person, parent_id: string, content: string) =>
      (await person.messages.reply(parent_id, { content })).message_id
    const first = await reply(grace, root.message_id, 'SECRET first')
    await grace.messages.edit(first, { content: 'SECRET edited' })
    await reply(ada, first, 'kept')
    await eve.threads.markRead(root.root_id, { message_id: first })
    await reply(grace, first, `SECRET ${'long '.repeat(1_000)}`)
    await grace.messages.postRoot(conversation_id, { content: 'SECRET root' })

    await service.chat.users.erase(OPERATOR, grace.id, { messages: 'erase' })
    const actor = await service.chat.users.actor(eve.id)
    const read = async () => {
      const page = await eve.threads.tree(root.root_id)
      const events: unknown[] = []
      const lastEventId = `${page.stream_position!.split('.')[0]}.0`
      for await (const { event } of service.chat.events.follow(actor, conversation_id, {
        last_event_id: lastEventId,
      })) {
        if (event.type === 'message.deleted' || event.type === 'stream.ready') break
        events.push(event)
      }
      return {
        messages: page.messages,
        message: await eve.messages.get(first),
        revisions: await eve.messages.listRevisions(first),
        threads: (await eve.threads.list(conversation_id)).threads,
        unread: (await eve.threads.unread(conversation_id)).threads,
        conversations: (await eve.conversations.list({})).conversations.map(({ unread }) => unread),
        events,
      }
    }
    const withoutInstants = (text: unknown) => JSON.stringify(text).replaceAll(/"deleted_at":"[^"]*"/g, '"deleted"')
    const before = withoutInstants(await read())
    expect(before.includes('SECRET')).toBe(false)
    expect(before.includes(grace.id)).toBe(false)
    expect(await codeOf(reply(ada, first, 'too late'))).toBe('message_deleted')
    expect(await codeOf(ada.messages.restore(first))).toBe('conflict')
    expect((await service.chat.ops.fsck()).findings).toEqual([])
    let archive = ''
    await exportArchive(innerState(service).db, (lines) => {
      archive += lines
    })
    expect(archive.includes('SECRET')).toBe(false)

    const other = await startService(url)
    await innerState(other).tasks.settle()
    expect(withoutInstants(await read())).toBe(before)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
    await Promise.all([other.close(), service.close()])
  })
  it('are erased also if that is requested while a task finishes a call that kept them', async () => {
    const service = await startService(await openUrl())
    const context = innerState(service)
    for (const node of service.nodes) await innerState(node).tasks.stop()
    const { ada, grace, root } = await startThread(service)
    const { message_id } = await grace.messages.reply(root.message_id, { content: 'SECRET' })
    let writes = 0
    const write: typeof context.write = (run) =>
      ++writes > 1 ? Promise.reject(new Error('killed')) : context.write(run)
    await expect(eraseUser.run({ ...context, write }, OPERATOR, grace.id, { messages: 'keep' })).rejects.toThrow(
      'killed',
    )

    let isAsked = false
    const late: typeof context.write = async (run) => {
      if (!isAsked) {
        isAsked = true
        const author = { user_id: grace.id, messages: 'erase' as const, erased_at: context.now() }
        await context.write((tx) => insertErasedAuthor(tx, author))
      }
      return context.write(run)
    }
    await resume(
      { ...context, write: late },
      { key: grace.id, detail: {}, isOver: () => false, signal: new AbortController().signal },
    )
    const message = await ada.messages.get(message_id)
    expect(message).toMatchObject({ content: '', deleted_at: expect.any(String) })
    expect((await service.chat.ops.fsck()).findings).toEqual([])
    await service.close()
  })
})
