import { beforeAll, describe, expect, it } from 'vitest'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { codeOf, startService, startThread, times } from '../../support/service.ts'

describeOnEachDatabase('messages', (openUrl) => {
  const service = setUpService(async () =>
    startService(await openUrl(), {
      config: { limits: { max_depth: 5 }, security: { password: { bcrypt_cost: 4 } } },
    }),
  )
  let thread: Awaited<ReturnType<typeof startThread>>
  beforeAll(async () => {
    thread = await startThread(service)
  })

  it('starts a thread', async () => {
    const { ada, conversation_id } = thread
    const posted = await ada.messages.postRoot(conversation_id, { content: ' kept\r\nas it is \u2028 ' })
    expect(posted).toMatchObject({
      conversation_id,
      depth: 0,
      message: { author_user_id: ada.id, role: 'user', status: 'complete' },
    })
    expect(posted.root_id).toBe(posted.message_id)
    const { messages } = await ada.threads.tree(posted.root_id)
    expect(messages).toEqual([posted.message])
    expect(messages[0]!.content).toBe(' kept\r\nas it is \u2028 ')
  })

  it('keeps twenty simultaneous replies apart', async () => {
    const { ada, grace, conversation_id } = thread
    const root = await ada.messages.postRoot(conversation_id, { content: 'race' })
    const params = { parent_id: root.message_id }
    const replies = await Promise.all(
      times(20, (i) => (i % 2 ? ada : grace).messages.reply(params.parent_id, { content: `${i}` })),
    )
    const { messages } = await ada.threads.tree(root.root_id)
    expect(new Set(messages.map((message) => message.path)).size).toBe(21)
    expect(new Set(messages.map((message) => message.created_at)).size).toBe(21)
    expect(new Set(messages.map((message) => message.id))).toEqual(
      new Set([root.message_id, ...replies.map((reply) => reply.message_id)]),
    )
  })

  it('nests no deeper than the limit', async () => {
    const { ada, root } = thread
    let parent_id = root.message_id
    for (const depth of [1, 2, 3, 4, 5]) {
      const posted = await ada.messages.reply(parent_id, { content: 'down' })
      expect(posted.depth).toBe(depth)
      parent_id = posted.message_id
    }
    expect(await codeOf(ada.messages.reply(parent_id, { content: 'down' }))).toBe('thread_too_deep')
  })

  describe('refuses', () => {
    it.each([
      ['nothing', ''],
      ['only spaces', ' \n\t '],
      ['only invisible characters', '\u200B\u2060\uFE0F'],
      ['NUL', 'a\0b'],
      ['a lone surrogate', 'a\uD800'],
      ['more bytes than allowed', 'é'.repeat(32_769)],
    ])('%s', async (_, content) => {
      const { ada, conversation_id } = thread
      expect(await codeOf(ada.messages.postRoot(conversation_id, { content }))).toBe('validation_failed')
    })

    it('a viewer', async () => {
      const { ada, eve } = thread
      const { conversation_id } = await ada.conversations.create()
      await ada.participants.add(conversation_id, { user_id: eve.id, role: 'viewer' })
      const root = await ada.messages.postRoot(conversation_id, { content: 'read only' })
      expect(await codeOf(eve.messages.postRoot(conversation_id, { content: 'x' }))).toBe('forbidden')
      expect(await codeOf(eve.messages.reply(root.message_id, { content: 'x' }))).toBe('forbidden')
      expect((await eve.threads.tree(root.root_id)).messages).toHaveLength(1)
    })
  })

  it('takes as many bytes as allowed', async () => {
    const { ada, conversation_id } = thread
    const content = 'é'.repeat(32_768)
    const posted = await ada.messages.postRoot(conversation_id, { content })
    expect(posted.message.content).toBe(content)
  })
})
