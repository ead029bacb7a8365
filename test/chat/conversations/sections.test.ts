import { beforeAll, expect, it } from 'vitest'
import { MAX_EXCERPT_LENGTH } from '../../../lib/core/excerpt.ts'
import { insertErasedAuthor } from '../../../lib/erasure/store.ts'
import { each, sql } from '../../../lib/storage/sql.ts'
import { createPuppet } from '../../support/assistant.ts'
import { describeService } from '../../support/describe-service.ts'
import { codeOf, innerState, type Person, times } from '../../support/service.ts'

const { assistant, asked } = createPuppet()

describeService('a list of conversations', { ports: { assistant } }, (service) => {
  let ada: Person
  let grace: Person
  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
  })

  async function room(title: string, layout: 'stream' | 'topics' | 'assistant' = 'stream') {
    const { conversation_id } = await ada.conversations.create({ title, layout })
    await ada.participants.add(conversation_id, { user_id: grace.id })
    return conversation_id
  }

  const ids = async (query: Parameters<Person['conversations']['list']>[0]) =>
    (await grace.conversations.list(query)).conversations.map(({ id }) => id)

  it('has each conversation in one section: favourites, talks with the assistant, direct ones, rooms', async () => {
    const stream = await room('Engines')
    const topics = await room('Looms', 'topics')
    const talk = await room('Help', 'assistant')
    const { conversation_id: direct } = await grace.conversations.direct({ user_id: ada.id })
    // As in a database of before layouts.
    await innerState(service).db.run(sql`UPDATE conversations SET layout = NULL WHERE id = ${topics}`)
    expect(await ids({ section: 'rooms' })).toEqual([topics, stream])
    expect(await ids({ section: 'assistant' })).toEqual([talk])
    expect(await ids({ section: 'direct' })).toEqual([direct])
    expect(await ids({ section: 'favourites' })).toEqual([])
    for (const id of [talk, direct, stream]) await grace.conversations.setSettings(id, { favourite: true })
    expect(await ids({ section: 'favourites' })).toEqual([direct, talk, stream])
    expect(await ids({ section: 'rooms' })).toEqual([topics])
    expect(await ids({ section: 'assistant' })).toEqual([])
    expect((await ada.conversations.list({ section: 'rooms' })).conversations).toHaveLength(2)
    await grace.conversations.setSettings(direct, { archived: true })
    expect(await ids({ section: 'favourites' })).toEqual([talk, stream])
    expect(await ids({ section: 'favourites', archived: 'true' })).toEqual([direct])
    // One after the other, by the cursor.
    const { next_after } = await grace.conversations.list({ section: 'favourites', limit: 1 })
    expect(await ids({ section: 'favourites', after: next_after! })).toEqual([stream])
    const list = (await grace.conversations.list({})).conversations
    expect(list.filter(({ favourite }) => favourite).map(({ id }) => id)).toEqual([talk, stream])
    expect(await grace.conversations.get(talk)).toMatchObject({ favourite: true })
    expect(await grace.conversations.setSettings(talk, { favourite: false })).not.toHaveProperty('favourite')
    expect(await grace.conversations.get(talk)).not.toHaveProperty('favourite')
    expect(await codeOf(grace.conversations.list({ section: 'others' as 'rooms' }))).toBe('validation_failed')
  })

  it('has at most 100 favourites, also of changes at once', async () => {
    const eve = await service.signIn('eve')
    const made = await Promise.all(times(101, (n) => eve.conversations.create({ title: `Room ${n}` })))
    const rooms = made.map(({ conversation_id }) => conversation_id)
    for (const id of rooms.slice(0, 98)) await eve.conversations.setSettings(id, { favourite: true })
    const last = await Promise.allSettled(
      rooms.slice(98).map((id) => eve.conversations.setSettings(id, { favourite: true })),
    )
    expect(last.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    const { conversations } = await eve.conversations.list({ section: 'favourites', limit: 200 })
    expect(conversations).toHaveLength(100)
    const other = rooms.find((id) => !conversations.some((each) => each.id === id))!
    expect(await codeOf(eve.conversations.setSettings(other, { favourite: true }))).toBe('conflict')
    // Again, and another setting, change nothing in their number.
    await eve.conversations.setSettings(conversations[0]!.id, { favourite: true, level: 'all' })
    await eve.conversations.setSettings(conversations[0]!.id, { favourite: false })
    expect(await eve.conversations.setSettings(other, { favourite: true })).toMatchObject({ favourite: true })
    await eve.conversations.remove(conversations[1]!.id)
    await eve.conversations.setSettings(conversations[0]!.id, { favourite: true })
  })

  it('has those with something unread', async () => {
    const stream = await room('Unread')
    const topics = await room('Unread', 'topics')
    const unread = async () => (await ids({ unread: 'true' })).filter((id) => id === stream || id === topics)
    await grace.conversations.markRead(stream, { all: true })
    expect(await unread()).toEqual([])
    const { root_id } = await ada.messages.postRoot(stream, { content: 'Hello' })
    const other = await ada.messages.postRoot(topics, { content: 'Hello' })
    expect(await unread()).toEqual([topics, stream])
    await grace.conversations.markRead(stream, {})
    await grace.threads.markRead(other.root_id)
    expect(await unread()).toEqual([])
    // In a stream, replies of a thread that is not followed count nowhere.
    await ada.messages.reply(root_id, { content: 'More' })
    await ada.messages.reply(other.root_id, { content: 'More' })
    expect(await unread()).toEqual([topics])
    await ada.messages.reply(root_id, { content: 'You, @grace' })
    expect(await unread()).toEqual([stream, topics])
    const mallory = await service.signIn('mallory')
    await ada.participants.add(topics, { user_id: mallory.id })
    await grace.conversations.markRead(topics, { all: true })
    await mallory.messages.postRoot(topics, { content: 'Buy' })
    expect(await unread()).toEqual([topics, stream])
    // While the messages of an author are being removed, they are still counted.
    const { db, now } = innerState(service)
    const erased = { user_id: mallory.id, messages: 'erase' as const, erased_at: now() }
    await db.write((tx) => insertErasedAuthor(tx, erased))
    expect(await unread()).toEqual([stream])
    const pages: string[] = []
    for (let after: string | undefined; ; ) {
      const page = await grace.conversations.list({ unread: 'true', limit: 1, ...(after && { after }) })
      pages.push(...page.conversations.map(({ id }) => id))
      after = page.next_after
      if (after === undefined) break
    }
    expect(pages).toEqual(await ids({ unread: 'true' }))
    await db.write((tx) => tx.run(sql`DELETE FROM erased_authors WHERE user_id = ${mallory.id}`))
  })

  const lastOf = async (id: string) =>
    (await grace.conversations.list({})).conversations.find((each) => each.id === id)!.last_message

  it('has the newest message that is not deleted', async () => {
    const id = await room('Last')
    expect(await lastOf(id)).toBeUndefined()
    const root = (await ada.messages.postRoot(id, { content: `${'🚂'.repeat(200)}` })).message
    const excerpt = '🚂'.repeat(MAX_EXCERPT_LENGTH)
    const first = { id: root.id, author_user_id: ada.id, role: 'user', excerpt, at: root.created_at }
    expect(await lastOf(id)).toEqual(first)
    const reply = (await grace.messages.reply(root.id, { content: 'It runs.' })).message
    const second = { id: reply.id, author_user_id: grace.id, role: 'user', excerpt: 'It runs.', at: reply.created_at }
    expect(await lastOf(id)).toEqual(second)
    await grace.messages.edit(reply.id, { content: 'It ran.' })
    expect(await lastOf(id)).toEqual({ ...second, excerpt: 'It ran.' })
    await grace.messages.remove(reply.id)
    expect(await lastOf(id)).toEqual(first)
    await grace.messages.restore(reply.id)
    expect(await lastOf(id)).toEqual({ ...second, excerpt: 'It ran.' })
    const { db, now } = innerState(service)
    await db.write((tx) => insertErasedAuthor(tx, { user_id: grace.id, messages: 'erase', erased_at: now() }))
    expect(await lastOf(id)).toEqual(first)
    await db.write((tx) => tx.run(sql`UPDATE erased_authors SET messages = 'keep' WHERE user_id = ${grace.id}`))
    const { author_user_id: _, ...anonymous } = { ...second, excerpt: 'It ran.' }
    expect(await lastOf(id)).toEqual(anonymous)
    await db.write((tx) => tx.run(sql`DELETE FROM erased_authors`))
  })

  it('has the question of an answer until the answer has a text', async () => {
    const id = await room('Asking')
    const { message } = await ada.messages.postRoot(id, { content: 'Does it run?', role: 'assistant' })
    const answer = await asked()
    expect(await lastOf(id)).toEqual({
      id: message.id,
      role: 'assistant',
      excerpt: 'Does it run?',
      at: message.created_at,
    })
    answer.say('It runs.')
    answer.end()
    await service.idle()
    expect(await lastOf(id)).toMatchObject({ id: message.id, excerpt: 'It runs.' })
  })

  it('passes over messages that were deleted, and gives up after 1,000 of a kind', async () => {
    const id = await room('Deleted')
    const { root_id } = await ada.messages.postRoot(id, { content: 'The first' })
    const removed = await ada.messages.postRoot(id, { content: 'Another' })
    await ada.messages.remove(removed.root_id)
    const { db } = innerState(service)
    const copy = (count: number) =>
      db.write((tx) =>
        tx.run(sql`INSERT INTO messages (id, conversation_id, root_id, parent_id, posted_by, role, content, path, depth,
              status, created_at, deleted_at, reply_count)
          SELECT value, m.conversation_id, m.root_id, NULL, m.posted_by, m.role, '', m.path || value, 0, m.status,
                 m.created_at, m.deleted_at, 0
            FROM messages m CROSS JOIN ${each(
              tx,
              times(count, (n) => `${removed.root_id}-${count}-${n}`),
            )}
           WHERE m.id = ${removed.root_id}`),
      )
    await copy(998)
    expect(await lastOf(id)).toMatchObject({ id: root_id })
    await copy(1)
    expect(await lastOf(id)).toBeUndefined()
  })
})
