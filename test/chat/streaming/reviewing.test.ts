import { beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { reviewEnded } from '../../../lib/chat/streaming/reviewing.ts'
import { type ChatClient, createChatClient } from '../../../lib/client/index.ts'
import { SECOND } from '../../../lib/core/units.ts'
import { type Actor, type MessageBefore, OPERATOR } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { runProcess } from '../../storage/child.ts'
import { checkedFetch } from '../../support/answers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { codeOf, innerState, type Person, startService } from '../../support/service.ts'

const PATIENT = { timeout: 30_000, interval: 10 }

/** The clock of the services: it runs on from here. */
let ahead = 0
const now = () => Date.now() * 1000 + ahead

/** Refuses what has "spam" in all, and masks a number. */
const judge = ({ content }: MessageBefore) =>
  content.includes('spam')
    ? { refuse: 'No spam.' }
    : content.includes('4711')
      ? { content: content.replace('4711', '****') }
      : undefined

describeOnEachDatabase('texts of programs that are cut off', (openUrl) => {
  let url: string
  let hook: (message: MessageBefore) => ReturnType<typeof judge> = judge
  const asked: MessageBefore[] = []
  const options = {
    config: { bots: { enabled: true, messages_per_min: 10_000, max_streaming: 50 } },
    ports: {
      now,
      hooks: {
        beforeMessage: (message: MessageBefore) => {
          if (!message.streaming && message.message_id) asked.push(message)
          return hook(message)
        },
      },
    },
  }
  const service = setUpService(async () => {
    url = await openUrl()
    return startService(url, options)
  })
  let ada: Person
  let bot_id: string
  let actor: Actor
  let bot: ChatClient
  let gone: { id: string; key: string }

  beforeAll(async () => {
    ada = await service.signIn('ada')
    const { bot: made, key } = await ada.bots.create({ username: 'writer' })
    bot_id = made.id
    const other = await ada.bots.create({ username: 'gone' })
    gone = { id: other.bot.id, key: other.key }
    actor = await service.chat.users.actor(bot_id)
    bot = createChatClient({ base_url: service.base_url, api_key: key, fetch: checkedFetch, retry_ms: 10 })
  })

  beforeEach(() => {
    hook = judge
    asked.length = 0
  })

  async function open(): Promise<string> {
    const { conversation_id } = await ada.conversations.create({ title: 'texts' })
    await ada.participants.add(conversation_id, { user_id: bot_id })
    return conversation_id
  }

  /** A message that is streamed, of two chunks. */
  async function begin(conversation_id: string, ...[first, second]: [string, string]): Promise<string> {
    const { message_id } = await bot.messages.postRoot(conversation_id, { content: first, stream: true })
    await bot.answers.addChunk(message_id, { idx: 1, content: second })
    return message_id
  }

  const settled = () => service.idle()

  const typesOf = async (message_id: string) =>
    (
      await innerState(service).db.all<{ type: string }>(
        sql`SELECT type FROM events WHERE message_id = ${message_id} ORDER BY seq`,
      )
    ).map(({ type }) => type)

  const expire = async (message_id: string) => {
    const { db } = innerState(service)
    await db.run(sql`UPDATE answers_under_way SET lease_expires_at = 0 WHERE message_id = ${message_id}`)
  }

  /** Every way in which a text ends without its end. */
  const cuts: Record<string, (conversation_id: string, message_id: string) => Promise<void>> = {
    'by a cancellation': async (_, message_id) => void (await ada.answers.cancel(message_id)),
    'by a lease that has lapsed': async (_, message_id) => {
      await expire(message_id)
      await vi.waitFor(async () => {
        for (const node of service.nodes) await innerState(node).answers.renewLeases()
        expect((await ada.messages.get(message_id)).status).not.toBe('streaming')
      }, PATIENT)
    },
    'by a chunk that is too late': async (_, message_id) => {
      ahead += 3600 * SECOND
      expect(await bot.answers.addChunk(message_id, { idx: 2, content: 'late' })).toMatchObject({ status: 'failed' })
    },
    'by the end of the participation': async (conversation_id) => ada.participants.remove(conversation_id, bot_id),
  }

  it.each(Object.entries(cuts))('%s are shown to the host, whose refusal deletes them', async (_, cut) => {
    const conversation_id = await open()
    const message_id = await begin(conversation_id, 'sp', 'am')
    await cut(conversation_id, message_id)
    await settled()
    expect(await ada.messages.get(message_id)).toMatchObject({ content: '', delete_reason: 'No spam.' })
    expect(await ada.answers.listChunks(message_id)).toEqual([])
    const { actor: author, content, role, conversation_id: place } = asked[0]!
    expect({ id: author.user_id, is_bot: author.is_bot, content, role, place }).toEqual({
      ...{ id: bot_id, is_bot: true, content: 'spam', role: 'user', place: conversation_id },
    })
    expect(asked).toHaveLength(1)
    expect((await typesOf(message_id)).filter((type) => type === 'message.deleted')).toHaveLength(1)
  })

  it.each(Object.entries(cuts))('%s are replaced by the text that the host wants', async (_, cut) => {
    const conversation_id = await open()
    const message_id = await begin(conversation_id, 'PIN 47', '11')
    await cut(conversation_id, message_id)
    await settled()
    expect(await ada.messages.get(message_id)).toMatchObject({ content: 'PIN ****', edited_at: expect.any(String) })
    expect((await ada.answers.listChunks(message_id)).map(({ content }) => content)).toEqual(['PIN ****'])
    expect((await ada.messages.listRevisions(message_id)).revisions).toEqual([])
    expect((await typesOf(message_id)).filter((type) => type === 'message.edited')).toHaveLength(1)
  })

  it('stay as they are when the host has nothing against them', async () => {
    const message_id = await begin(await open(), 'All ', 'well')
    await ada.answers.cancel(message_id)
    await settled()
    const message = await ada.messages.get(message_id)
    expect(message).toMatchObject({ status: 'cancelled', content: 'All well' })
    expect(message.edited_at).toBeUndefined()
    expect(asked.map(({ content }) => content)).toEqual(['All well'])
    await bot.messages.edit(message_id, { content: 'All good' })
  })

  it('are asked about once when they end as they should, or without a text', async () => {
    const conversation_id = await open()
    const message_id = await begin(conversation_id, 'All ', 'well')
    await bot.answers.end(message_id)
    const { message_id: empty } = await bot.messages.postRoot(conversation_id, { stream: true })
    await ada.answers.cancel(empty)
    await settled()
    expect(asked.map((message) => message.message_id)).toEqual([message_id])
  })

  it('do not come back by the author who deleted them before the host saw them', async () => {
    const message_id = await begin(await open(), 'sp', 'am')
    await bot.messages.remove(message_id)
    await settled()
    expect(await codeOf(bot.messages.restore(message_id))).toBe('forbidden')
    await ada.messages.restore(message_id)
    expect(await ada.messages.get(message_id)).toMatchObject({ content: 'spam' })
  })

  it('come back with the text that the host wants', async () => {
    const message_id = await begin(await open(), '47', '11')
    await bot.messages.remove(message_id)
    await settled()
    expect(await typesOf(message_id)).not.toContain('message.edited')
    await bot.messages.restore(message_id)
    expect(await ada.messages.get(message_id)).toMatchObject({ content: '****' })
  })

  it('are not edited, which would keep them as revisions, until the hook works again', async () => {
    const message_id = await begin(await open(), 'sp', 'am')
    let isBroken = true
    hook = (message) => {
      if (isBroken && message.content === 'spam') throw new Error('The list of words is away.')
      return judge(message)
    }
    await ada.answers.cancel(message_id)
    const { db } = innerState(service)
    const attempts = async () =>
      (await db.get<{ attempts: number }>(sql`SELECT attempts FROM tasks WHERE key = ${message_id}`))?.attempts
    await vi.waitFor(async () => expect(await attempts()).toBeGreaterThan(0), PATIENT)
    expect(await ada.messages.get(message_id)).toMatchObject({ content: 'spam' })
    expect(await codeOf(bot.messages.edit(message_id, { content: 'egg' }))).toBe('message_streaming')
    isBroken = false
    await innerState(service).tasks.settle()
    expect(await ada.messages.get(message_id)).toMatchObject({ content: '', delete_reason: 'No spam.' })
  })

  it('of one who may not post any more are judged with their end', async () => {
    const conversation_id = await open()
    const stream = await service.chat.messages.stream(actor, conversation_id)
    await stream.write('spam')
    await ada.conversations.rename(conversation_id, { policy: { post: 'admins' } })
    expect(await stream.end()).toMatchObject({ content: '', delete_reason: 'No spam.' })
    expect(asked).toHaveLength(1)
  })

  it('are deleted once the hook works, though the bot is erased meanwhile and keeps its texts', async () => {
    const conversation_id = await open()
    await ada.participants.add(conversation_id, { user_id: gone.id })
    const writer = createChatClient({
      base_url: service.base_url,
      api_key: gone.key,
      fetch: checkedFetch,
      retry_ms: 10,
    })
    const { message_id } = await writer.messages.postRoot(conversation_id, { content: 'sp', stream: true })
    await writer.answers.addChunk(message_id, { idx: 1, content: 'am' })
    let isBroken = true
    hook = (message) => {
      if (isBroken && message.content === 'spam') throw new Error('The list of words is away.')
      return judge(message)
    }
    await service.chat.users.erase(OPERATOR, gone.id, { messages: 'keep' })
    const { db, tasks } = innerState(service)
    await vi.waitFor(async () => {
      const posted = sql`SELECT 1 AS found FROM messages WHERE id = ${message_id} AND posted_by IS NULL`
      expect(await db.get(posted)).toBeDefined()
    }, PATIENT)
    expect(await ada.messages.get(message_id)).toMatchObject({ content: 'spam' })
    isBroken = false
    await tasks.settle()
    expect(await ada.messages.get(message_id)).toMatchObject({ content: '', delete_reason: 'No spam.' })
    expect(asked.at(-1)!.actor).toMatchObject({ user_id: gone.id, is_bot: true })
  })

  it('are left by a process without the hook: for ever to one with it, for some minutes where none runs', async () => {
    const message_id = await begin(await open(), 'sp', 'am')
    for (const node of service.nodes) await innerState(node).tasks.stop()
    await ada.answers.cancel(message_id)
    const run = { key: message_id, signal: AbortSignal.timeout(60_000), isOver: () => false }
    const other = await startService(url, { config: options.config })
    const ctx = innerState(other)
    await vi.waitFor(async () => {
      const outcome = await reviewEnded(ctx, { ...run, detail: { left: 3 } })
      expect(outcome).toMatchObject({ done: false, detail: { left: 0 }, delay_seconds: expect.any(Number) })
    }, PATIENT)
    const alone = { ...ctx, cluster: { ...ctx.cluster, hasReviewer: async () => false } }
    const outcomes = [await reviewEnded(alone, { ...run, detail: { author: 'a' } })]
    for (let last = outcomes[0]!; !last.done; outcomes.push(last)) last = await reviewEnded(alone, { ...run, ...last })
    await other.close()
    await innerState(service).db.run(sql`DELETE FROM tasks WHERE key = ${message_id}`)
    const left = outcomes.map((outcome) => (outcome.done ? 'done' : outcome.detail))
    expect(left).toEqual([...[1, 2, 3].map((n) => ({ author: 'a', left: n })), 'done'])
  })

  // The last one: no node of the service runs tasks after the one before.
  it('are judged once although processes are killed: when they ask, and when they have stored the outcome', async () => {
    const message_id = await begin(await open(), '47', '11 4711')
    const { db } = innerState(service)
    const free = () => db.run(sql`UPDATE tasks SET lease_expires_at = 1 WHERE key = ${message_id}`)
    for (const node of service.nodes) await innerState(node).tasks.stop()
    await ada.answers.cancel(message_id)

    expect((await runProcess('review', url, 'asked')).signal).toBe('SIGKILL')
    expect(await ada.messages.get(message_id)).toMatchObject({ content: '4711 4711' })
    await free()
    expect((await runProcess('review', url, 'edited')).signal).toBe('SIGKILL')
    expect(await ada.messages.get(message_id)).toMatchObject({ content: '****' })
    // It has perhaps died before it could delete the task.
    await innerState(service).write(async (tx) => tx.enqueue({ kind: 'message.review', key: message_id }))
    const other = await startService(url, options)
    await other.idle()
    await other.close()
    expect(await db.get(sql`SELECT key FROM tasks WHERE key = ${message_id}`)).toBeUndefined()
    expect(asked).toEqual([])
    expect((await typesOf(message_id)).filter((type) => type === 'message.edited')).toHaveLength(1)
  })
})
