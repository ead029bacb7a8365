import { beforeAll, expect, it } from 'vitest'
import type { Message } from '../../../lib/chat/messages/schema.ts'
import { describeService } from '../../support/describe-service.ts'
import { codeOf, startThread } from '../../support/service.ts'

describeService('threads', (service) => {
  let world: Awaited<ReturnType<typeof startThread>>
  beforeAll(async () => {
    world = await startThread(service)
  })

  /** The expected order: depth first, siblings in the order of arrival, computed from the parents alone. */
  function depthFirst(messages: Message[], parent?: string): string[] {
    return messages
      .filter((message) => message.parent_id === parent)
      .sort((a, b) => a.created_at.localeCompare(b.created_at))
      .flatMap((message) => [message.id, ...depthFirst(messages, message.id)])
  }

  it('are read depth first, in pages of any size', async () => {
    const { ada, conversation_id } = world
    const { message: root } = await ada.messages.postRoot(conversation_id, { content: 'root' })
    const messages: Message[] = [root]
    // Forty replies to the root, so that its ordinals have one and two digits; others anywhere.
    for (let i = 0; i < 120; i++) {
      const parent = i % 3 === 0 ? root : messages[(i * 7919) % messages.length]!
      messages.push((await ada.messages.reply(parent.id, { content: `${i}` })).message)
    }
    const expected = depthFirst(messages)
    for (const limit of [1, 7, 50, 500]) {
      const read: string[] = []
      let cursor_path: string | undefined
      do {
        const page = await ada.threads.tree(root.id, { limit, ...(cursor_path && { cursor_path }) })
        expect(page.messages.length).toBeLessThanOrEqual(limit)
        read.push(...page.messages.map((message) => message.id))
        cursor_path = page.next_cursor
      } while (cursor_path)
      expect(read, `limit ${limit}`).toEqual(expected)
    }
  })

  it('return an empty page for a cursor past the end, and 422 for an invalid one', async () => {
    const { ada, root } = world
    const params = { root_id: root.root_id }
    expect(await ada.threads.tree(params.root_id, { cursor_path: '1z' })).toMatchObject({ messages: [] })
    for (const cursor_path of ['....', 'zzzz', '.', '1', '10.', "'; DROP", '1A']) {
      expect(await codeOf(ada.threads.tree(params.root_id, { cursor_path })), cursor_path).toBe('invalid_cursor')
    }
    expect(await codeOf(ada.threads.tree(params.root_id, { cursor_path: '10'.repeat(5000) }))).toBe('validation_failed')
  })

  it('are not found by the id of a reply', async () => {
    const { ada, root } = world
    const reply = await ada.messages.reply(root.message_id, { content: 'no root' })
    expect(await codeOf(ada.threads.tree(reply.message_id))).toBe('not_found')
  })

  it('are listed by their latest activity, none skipped or repeated', async () => {
    const { ada, grace } = world
    const { conversation_id } = await ada.conversations.create()
    await ada.participants.add(conversation_id, { user_id: grace.id })
    const roots = await Promise.all(
      Array.from({ length: 25 }, (_, i) => ada.messages.postRoot(conversation_id, { content: `thread ${i}` })),
    )
    const bumped = roots[3]!
    await grace.messages.reply(bumped.message_id, { content: 'up' })

    const listed: string[] = []
    let after: string | undefined
    do {
      const page = await ada.threads.list(conversation_id, { limit: 4, ...(after && { after }) })
      listed.push(...page.threads.map((thread) => thread.root_id))
      after = page.next_after
    } while (after)
    expect(listed[0]).toBe(bumped.root_id)
    expect(listed).toHaveLength(25)
    expect(new Set(listed)).toEqual(new Set(roots.map((root) => root.root_id)))
  })

  it('have a summary: an excerpt of the root, its author, message and unread counts', async () => {
    const { ada, grace } = world
    const { conversation_id } = await ada.conversations.create()
    await ada.messages.postRoot(conversation_id, { content: 'from before Grace came' })
    await ada.participants.add(conversation_id, { user_id: grace.id })
    const content = '🎉'.repeat(200)
    const root = await ada.messages.postRoot(conversation_id, { content })
    const { message } = await grace.messages.reply(root.message_id, { content: 'one' })
    await ada.messages.reply(message.id, { content: 'two' })

    const summaryFor = async (person: typeof ada) => (await person.threads.list(conversation_id)).threads
    expect((await summaryFor(grace))[0]).toMatchObject({
      root_id: root.root_id,
      root_excerpt: '🎉'.repeat(140),
      root_author: ada.id,
      created_at: root.message.created_at,
      message_count: 3,
      participant_count: 2,
      unread: 2,
    })
    expect((await summaryFor(ada))[0]!.unread).toBe(1)
    expect((await summaryFor(grace))[1]!.unread).toBe(0)
  })

  it.each(['yesterday', '2026-13-01T00:00:00Z', '', '0'])('refuse %j as an instant', async (after) => {
    const { ada, conversation_id } = world
    expect(await codeOf(ada.threads.list(conversation_id, { after }))).toBe('validation_failed')
  })

  it('accept an instant in any RFC 3339 form', async () => {
    const { ada, conversation_id } = world
    const { threads } = await ada.threads.list(conversation_id)
    const count = async (after: string) => (await ada.threads.list(conversation_id, { after })).threads.length
    expect(await count('2999-01-01T00:00:00Z')).toBe(threads.length)
    expect(await count('2999-01-01T00:00:00.5+02:00')).toBe(threads.length)
    expect(await count('1999-01-01T00:00:00Z')).toBe(0)
  })
})
