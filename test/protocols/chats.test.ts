import { beforeEach, expect, it, vi } from 'vitest'
import { askInChat, type ChatQuestion } from '../../lib/protocols/chats/asking.ts'
import { sql } from '../../lib/storage/sql.ts'
import { createPuppet } from '../support/assistant.ts'
import { describeService } from '../support/describe-service.ts'
import {
  codeOf,
  innerState,
  type Person,
  startService,
  startThread,
  type TestService,
  times,
} from '../support/service.ts'

interface PuppetService extends TestService {
  puppet: ReturnType<typeof createPuppet>
}

async function startPuppet(url: string): Promise<PuppetService> {
  const puppet = createPuppet()
  return Object.assign(await startService(url, { ports: { assistant: puppet.assistant } }), { puppet })
}

describeService('questions in chats', startPuppet, (service) => {
  let world: Awaited<ReturnType<typeof startThread>>
  let name: string
  let n = 0

  beforeEach(async () => {
    world = await startThread(service)
    name = `chat-${n++}`
  })

  const ctx = () => innerState(service.chat)

  async function ask(person: Person, question: Partial<ChatQuestion> = {}) {
    const actor = await service.chat.users.actor(person.id)
    return askInChat(ctx(), actor, { name, kind: 'ask', content: 'Why?', answer_ids: [], ...question })
  }

  /** Asks, and lets the assistant answer. */
  async function askAndEnd(person: Person, question: Partial<ChatQuestion> = {}) {
    const { message_id } = await ask(person, question)
    const answer = await service.puppet.asked()
    answer.say('Because.')
    answer.end()
    await vi.waitUntil(async () => (await person.messages.get(message_id)).status === 'complete', { timeout: 30_000 })
    return person.messages.get(message_id)
  }

  it('begins a chat in a new conversation of the user alone, or in one that it names', async () => {
    const { ada, conversation_id } = world
    const first = await askAndEnd(ada)
    expect(first).toMatchObject({ prompt: 'Why?', depth: 0 })
    const own = await ada.conversations.get(first.conversation_id)
    expect(own).toMatchObject({ layout: 'assistant', participants: [{ user_id: ada.id, role: 'owner' }] })
    const second = await askAndEnd(ada, { name: `${name}-room`, conversation_id })
    expect(second.conversation_id).toBe(conversation_id)
    expect(await codeOf(ask(ada, { conversation_id }))).toBe('conflict')
  })

  it('asks below the last answer of the client that is in the chat, else below the newest', async () => {
    const { ada, conversation_id } = world
    const other = await askAndEnd(ada, { name: `${name}-other` })
    const first = await askAndEnd(ada)
    const second = await askAndEnd(ada)
    expect(second.parent_id).toBe(first.id)
    const third = await askAndEnd(ada, { answer_ids: [first.id, other.id, world.root.message_id] })
    expect(third).toMatchObject({ parent_id: first.id, root_id: first.id })
    expect((await askAndEnd(ada)).parent_id).toBe(third.id)
    expect(conversation_id).not.toBe(first.conversation_id)
  })

  it('asks below the answer before, where the last one of the client is deleted', async () => {
    const { ada } = world
    const first = await askAndEnd(ada)
    const second = await askAndEnd(ada)
    const third = await askAndEnd(ada)
    await ada.messages.remove(third.id, {})
    const next = await askAndEnd(ada, { answer_ids: [first.id, second.id, third.id] })
    expect(next.parent_id).toBe(second.id)
    await ada.messages.remove(next.id, {})
    expect((await askAndEnd(ada, { answer_ids: [third.id, next.id] })).parent_id).toBe(second.id)
  })

  it('finds the last answer among many replies', async () => {
    const { ada } = world
    const root = await askAndEnd(ada)
    const answer = await askAndEnd(ada)
    for (const n of times(25, (n) => n)) await ada.messages.reply(root.id, { content: `note ${n}`, role: 'user' })
    const again = await askAndEnd(ada, { kind: 'again', answer_ids: [root.id] })
    expect(again).toMatchObject({ variant_of: answer.id, parent_id: root.id })
  })

  it('asks again, and anew, as a variant; the name moves to a variant of the root', async () => {
    const { ada } = world
    const first = await askAndEnd(ada)
    const second = await askAndEnd(ada, { content: 'And?' })
    const again = await askAndEnd(ada, { kind: 'again', message_id: second.id })
    expect(again).toMatchObject({ prompt: 'And?', variant_of: second.id, parent_id: first.id })
    const edited = await askAndEnd(ada, { kind: 'edit', content: 'How?', answer_ids: [first.id] })
    expect(edited).toMatchObject({ prompt: 'How?', variant_of: second.id, parent_id: first.id })
    const root = await askAndEnd(ada, { kind: 'edit', content: 'What?' })
    expect(root).toMatchObject({ prompt: 'What?', variant_of: first.id, depth: 0 })
    expect((await askAndEnd(ada)).root_id).toBe(root.id)
    // Its client may go on in the thread of before.
    expect((await askAndEnd(ada, { answer_ids: [second.id] })).parent_id).toBe(second.id)
    // By the id of the first root, the thread has no other name.
    expect((await askAndEnd(ada, { name: first.id })).root_id).toBe(first.id)
  })

  it('finds messages of the chat alone', async () => {
    const { ada, grace, root } = world
    await askAndEnd(ada)
    const others = await askAndEnd(grace)
    expect(others.conversation_id).not.toBe(root.conversation_id)
    for (const message_id of [root.message_id, others.id, '01890000-0000-7000-8000-000000000000'])
      expect(await codeOf(ask(ada, { kind: 'again', message_id }))).toBe('not_found')
    expect(await codeOf(ask(ada, { name: `${name}-new`, kind: 'edit', message_id: root.message_id }))).toBe('not_found')
    // The thread of another user is a name as any other.
    const own = await askAndEnd(ada, { name: others.id })
    expect(own.conversation_id).not.toBe(others.conversation_id)
  })

  it('is not found once its root is deleted, or its conversation is left', async () => {
    const { ada, grace, conversation_id } = world
    const first = await askAndEnd(ada)
    await ada.messages.remove(first.id, {})
    expect(await codeOf(ask(ada))).toBe('not_found')
    await askAndEnd(grace, { conversation_id })
    await ada.participants.remove(conversation_id, grace.id)
    expect(await codeOf(ask(grace))).toBe('not_found')
  })

  it('refuses a question while an answer to the user runs', async () => {
    const { ada } = world
    await ask(ada)
    const answer = await service.puppet.asked()
    expect(await codeOf(ask(ada))).toBe('message_streaming')
    answer.say('Because.')
    answer.end()
    await service.idle()
  })

  it('is asked once with a key, and begun once by questions at the same time', async () => {
    const { ada } = world
    const [one, two] = await Promise.all([ask(ada, { key: `${name}-k` }), ask(ada, { key: `${name}-k` })])
    expect(one.message_id).toBe(two.message_id)
    expect([one.is_repeated, two.is_repeated].filter(Boolean)).toHaveLength(1)
    expect(await ask(ada, { key: `${name}-k` })).toEqual({ message_id: one.message_id, is_repeated: true })
    expect(await codeOf(ask(ada, { key: `${name}-k`, content: 'Else' }))).toBe('idempotency_mismatch')
    const answer = await service.puppet.asked()
    answer.end()
    await vi.waitUntil(async () => (await ada.messages.get(one.message_id)).status === 'failed', { timeout: 30_000 })

    name = `${name}-twice`
    const both = await Promise.allSettled(times(4, () => ask(ada)))
    const codes = both.map((each) => (each.status === 'rejected' ? each.reason.code : 'asked'))
    expect(codes.sort()).toEqual(['asked', 'message_streaming', 'message_streaming', 'message_streaming'])
    ;(await service.puppet.asked()).end()
  })

  /** Gives a user names of nothing, the first one least used. */
  const fillNames = (userId: string, conversation_id: string, count: number) =>
    ctx().db.run(sql`INSERT INTO chats (user_id, name, conversation_id, root_id, created_at)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < CAST(${count} AS INTEGER))
      SELECT ${userId}, 'old-' || i, ${conversation_id}, CAST(NULL AS TEXT), i FROM n`)

  it('keeps the names that were used last', async () => {
    const { ada } = world
    const first = await askAndEnd(ada)
    await ctx().db.run(sql`DELETE FROM chats WHERE user_id = ${ada.id} AND name <> ${name}`)
    await fillNames(ada.id, first.conversation_id, 9_999)
    await askAndEnd(ada, { name: `${name}-last` })
    const names = await ctx().db.all<{ name: string }>(
      sql`SELECT name FROM chats WHERE user_id = ${ada.id} AND name IN (${name}, ${`${name}-last`}, 'old-1', 'old-2')`,
    )
    expect(names.map((row) => row.name).sort()).toEqual([name, `${name}-last`, 'old-2'].sort())
    await ctx().db.run(sql`DELETE FROM chats WHERE user_id = ${ada.id}`)
  })

  it('keeps them also where a thread without a name gets one with another first question', async () => {
    const { ada } = world
    const first = await askAndEnd(ada)
    await ctx().db.run(sql`DELETE FROM chats WHERE user_id = ${ada.id}`)
    await fillNames(ada.id, first.conversation_id, 10_000)
    await askAndEnd(ada, { name: first.id, kind: 'edit', content: 'How?', message_id: first.id })
    const names = await ctx().db.all<{ name: string }>(
      sql`SELECT name FROM chats WHERE user_id = ${ada.id} AND name IN (${first.id}, 'old-1', 'old-2')`,
    )
    expect(names.map((row) => row.name).sort()).toEqual([first.id, 'old-2'].sort())
    await ctx().db.run(sql`DELETE FROM chats WHERE user_id = ${ada.id}`)
  })
})
