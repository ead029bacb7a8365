import { beforeAll, beforeEach, expect, it } from 'vitest'
import { listLastRepliers } from '../../../lib/chat/messages/listing-repliers.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeService } from '../../support/describe-service.ts'
import { listEventsAfter } from '../../support/events-after.ts'
import { innerState, type Person, startThread, times } from '../../support/service.ts'

describeService('the users who replied last', (service) => {
  let people: Record<string, Person>
  let conversation_id: string
  let root_id: string
  beforeAll(async () => {
    const { ada, grace } = await startThread(service)
    people = { ada, grace }
    for (const name of ['hal', 'ivy', 'joe']) people[name] = await service.signIn(name)
  })
  beforeEach(async () => {
    const { ada } = people
    conversation_id = (await ada!.conversations.create()).conversation_id
    for (const person of Object.values(people).slice(1))
      await ada!.participants.add(conversation_id, { user_id: person.id })
    root_id = (await ada!.messages.postRoot(conversation_id, { content: 'root' })).message_id
  })

  const nameOf = (id: string) => Object.keys(people).find((name) => people[name]!.id === id)
  const named = (ids: readonly string[]) => ids.map(nameOf).join(' ')
  const reply = async (name: string, parent_id = root_id) =>
    (await people[name]!.messages.reply(parent_id, { content: name })).message
  /** Several replies at once, so in one transaction. */
  const replyOften = (name: string, count: number) => Promise.all(times(count, () => reply(name)))

  /** The names of the list, which is the same everywhere. */
  async function repliers(): Promise<string> {
    const { thread } = (await people.ada!.threads.messages(root_id)).root
    const { threads } = await people.ada!.threads.list(conversation_id)
    const summary = threads.find((thread) => thread.root_id === root_id)!
    expect(summary.last_replier_ids).toEqual(thread!.last_replier_ids)
    return named(thread!.last_replier_ids)
  }
  const isStored = async () =>
    (await innerState(service).db.get(
      sql`SELECT root_id FROM threads WHERE root_id = ${root_id} AND repliers_as_of = last_activity_at + message_count`,
    )) !== undefined
  const problems = async () => (await service.chat.ops.fsck()).findings

  it('are each named once, the latest first, at most three', async () => {
    expect(await repliers()).toBe('')
    for (const [name, expected] of [
      ['grace', 'grace'],
      ['ada', 'ada grace'],
      ['grace', 'grace ada'],
      ['hal', 'hal grace ada'],
      ['ivy', 'ivy hal grace'],
      ['hal', 'hal ivy grace'],
    ] as const) {
      await reply(name)
      expect(await repliers()).toBe(expected)
    }
    expect(await isStored()).toBe(true)
  })

  it('stay known behind any number of replies of one user', async () => {
    await reply('grace')
    await reply('hal')
    await replyOften('ivy', 210)
    expect(await repliers()).toBe('ivy hal grace')
    const last = await reply('ivy')
    await people.ivy!.messages.remove(last.id)
    expect(await repliers()).toBe('ivy hal grace')
    await people.ivy!.messages.restore(last.id)
    expect(await repliers()).toBe('ivy hal grace')
    expect(await isStored()).toBe(true)
    expect(await problems()).toEqual([])
  })

  it('are right after any order of replies, deletions and restorations', async () => {
    const names = Object.keys(people)
    const messages: { id: string; name: string; at: string; deleted: boolean }[] = []
    let seed = 7
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % below
    }
    for (const _ of times(80, () => 0)) {
      const target = messages[random(messages.length || 1)]
      if (target && random(2) === 0) {
        const { ada } = people
        await (target.deleted ? ada!.messages.restore(target.id) : ada!.messages.remove(target.id))
        target.deleted = !target.deleted
      } else {
        const name = names[random(names.length)]!
        const { id, created_at } = await reply(name)
        messages.push({ id, name, at: created_at, deleted: false })
      }
      const live = messages.filter(({ deleted }) => !deleted).reverse()
      expect(await repliers()).toBe([...new Set(live.map(({ name }) => name))].slice(0, 3).join(' '))
    }
    expect(await isStored()).toBe(true)
    expect(await problems()).toEqual([])
  })

  it('are in the events of a reply, with the number of replies, as of sending', async () => {
    const { grace, ada, hal } = people
    const { stream_position = '' } = await ada!.conversations.get(conversation_id)
    const live = grace!.events.follow(conversation_id, { last_event_id: stream_position })[Symbol.asyncIterator]()
    const next = async () => {
      for (;;) {
        const { event } = (await live.next()).value!
        if (!('message' in event.payload) || typeof event.payload.message === 'string') continue
        const { thread } = event.payload as { thread?: object }
        return { type: event.type, ...(thread && { thread }) }
      }
    }
    const first = await reply('ada')
    const one = { root_id, reply_count: 1, last_reply_at: first.created_at, last_replier_ids: [ada!.id] }
    expect(await next()).toEqual({ type: 'message.new', thread: one })
    const second = await reply('hal', first.id)
    const ids = [hal!.id, ada!.id]
    const two = { root_id, reply_count: 2, last_reply_at: second.created_at, last_replier_ids: ids }
    expect(await next()).toEqual({ type: 'message.new', thread: two })
    await hal!.messages.edit(second.id, { content: 'edited' })
    expect(await next()).toEqual({ type: 'message.edited' })
    await hal!.messages.remove(second.id)
    expect(await next()).toEqual({ type: 'message.deleted', thread: one })
    await hal!.messages.restore(second.id)
    expect(await next()).toEqual({ type: 'message.restored', thread: two })
    await ada!.messages.remove(root_id)
    // A root has no such field, and is no reply.
    expect(await next()).toEqual({ type: 'message.deleted' })
    const third = await reply('ada', second.id)
    const three = { ...two, reply_count: 3, last_reply_at: third.created_at, last_replier_ids: [ada!.id, hal!.id] }
    expect(await next()).toEqual({ type: 'message.new', thread: three })
    await live.return?.(undefined)
    // A replay has the thread as it is now.
    const replayed = await listEventsAfter(ada!, conversation_id, stream_position)
    const threads = replayed.flatMap(({ payload }) => ('thread' in payload && payload.thread ? [payload.thread] : []))
    expect(threads).toEqual(times(5, () => three))
  })

  it('are counted together in one commit', async () => {
    const { ada } = people
    const { stream_position = '' } = await ada!.conversations.get(conversation_id)
    await Promise.all(['ada', 'grace', 'ada', 'hal', 'ada'].map((name) => reply(name)))
    const { reply_count, last_reply_at, last_replier_ids } = (await ada!.threads.messages(root_id)).root.thread!
    expect(reply_count).toBe(5)
    const events = await listEventsAfter(ada!, conversation_id, stream_position)
    const thread = { root_id, reply_count, last_reply_at, last_replier_ids }
    expect(events.filter(({ type }) => type === 'message.new')).toHaveLength(5)
    for (const { payload } of events) expect(payload).toMatchObject({ thread })
  })

  it('are computed, and then stored, where a program has posted that knows no such list', async () => {
    const ctx = innerState(service)
    await reply('grace')
    await reply('ada')
    // As such a program deletes the reply of Ada.
    const outdate = () =>
      ctx.db.write(async (tx) => {
        await tx.run(
          sql`UPDATE messages SET deleted_at = 1, deleted_by = posted_by
            WHERE root_id = ${root_id} AND parent_id IS NOT NULL AND posted_by = ${people.ada!.id} AND deleted_at IS NULL`,
        )
        await tx.run(sql`UPDATE threads SET message_count = message_count - 1 WHERE root_id = ${root_id}`)
      })
    await outdate()
    expect(await isStored()).toBe(false)
    expect(await repliers()).toBe('grace')
    while (!(await isStored())) await listLastRepliers(ctx)
    expect(await repliers()).toBe('grace')
    await reply('ada')
    await outdate()
    // The next reply of a program that knows it puts it right.
    await reply('hal')
    expect(await isStored()).toBe(true)
    expect(await repliers()).toBe('hal grace')
    // A thread of before the upgrade.
    await ctx.db.write((tx) =>
      tx.run(sql`UPDATE threads SET last_repliers = NULL, repliers_as_of = NULL WHERE root_id = ${root_id}`),
    )
    expect(await repliers()).toBe('hal grace')
    await reply('ivy')
    expect(await repliers()).toBe('ivy hal grace')
    expect(await isStored()).toBe(true)
  })

  it.each(['keep', 'erase'] as const)('name no user who is erased: messages %s', async (messages) => {
    const linus = await service.signIn(`linus-${messages}`)
    const { ada } = people
    await ada!.participants.add(conversation_id, { user_id: linus.id })
    await reply('grace')
    await linus.messages.reply(root_id, { content: 'by Linus' })
    await reply('hal')
    const { tasks } = innerState(service)
    await service.chat.users.erase(OPERATOR, linus.id, { messages })
    // While the messages of Linus are being removed.
    const { message } = await ada!.messages.reply(root_id, { content: 'after' })
    for (const settled of [false, true]) {
      if (settled) await tasks.settle()
      const { thread } = (await ada!.threads.messages(root_id)).root
      expect(thread).toMatchObject({
        reply_count: messages === 'keep' ? 4 : 3,
        last_reply_at: message.created_at,
        last_replier_ids: [ada!.id, people.hal!.id, people.grace!.id],
      })
    }
    expect(await isStored()).toBe(true)
    const row = await innerState(service).db.get<{ last_repliers: string }>(
      sql`SELECT last_repliers FROM threads WHERE root_id = ${root_id}`,
    )
    expect(row!.last_repliers).not.toContain(linus.id)
  })
})
