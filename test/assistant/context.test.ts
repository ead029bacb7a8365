import { beforeAll, expect, it } from 'vitest'
import type { Turn } from '../../lib/assistant/provider.ts'
import type { QuestionContext } from '../../lib/chat/answers/schema-context.ts'
import { post } from '../../lib/chat/messages/service.ts'
import type { Message } from '../../lib/client/index.ts'
import { contextOf } from '../../lib/core/context-of.ts'
import { createPuppet } from '../support/assistant.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { setUpService } from '../support/describe-service.ts'
import { type Person, startService, times } from '../support/service.ts'

describeOnEachDatabase('what an assistant gets', (openUrl) => {
  const puppets = {
    assistant: createPuppet(),
    path: createPuppet(),
    thread: createPuppet(),
    short: createPuppet(),
    named: createPuppet(),
  }
  const service = setUpService(async () =>
    startService(await openUrl(), {
      ports: {
        assistant: puppets.assistant.assistant,
        assistants: {
          path: { provider: puppets.path.assistant, context: 'path', names: 'never' },
          thread: { provider: puppets.thread.assistant, context: 'thread', names: 'never' },
          short: { provider: puppets.short.assistant, context: 'thread', names: 'never', context_bytes: 24 },
          named: { provider: puppets.named.assistant, names: 'always' },
        },
      },
    }),
  )
  let ada: Person
  let grace: Person
  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    await grace.auth.changeProfile({ display_name: 'Grace Hopper' })
  })

  async function startRoom(layout: 'stream' | 'topics') {
    const { conversation_id } = await ada.conversations.create({ layout })
    await ada.participants.add(conversation_id, { user_id: grace.id })
    return conversation_id
  }

  /** Asks, and returns what the assistant gets; it answers by its key. */
  async function turnsOf(key: keyof typeof puppets, ask: () => Promise<{ message: Message }>) {
    const { message } = await ask()
    const answer = await puppets[key].asked()
    answer.say(key)
    answer.end()
    await service.idle()
    return { message, turns: answer.request.turns }
  }

  const texts = (turns: readonly Turn[]) => turns.map(({ content }) => content)

  it('is the path above the answer in topics, and the thread by arrival in a stream', async () => {
    for (const [layout, expected] of [
      ['topics', ['ada: First', 'Grace Hopper: Why?']],
      ['stream', ['ada: First', 'Grace Hopper: Second', 'ada: Third', 'Grace Hopper: Why?']],
    ] as const) {
      const conversation_id = await startRoom(layout)
      const { message_id: root } = await ada.messages.postRoot(conversation_id, { content: 'First', role: 'user' })
      const { message_id: second } = await grace.messages.reply(root, { content: 'Second' })
      await ada.messages.reply(second, { content: 'Third' })
      const { turns } = await turnsOf('assistant', () =>
        grace.messages.reply(root, { content: 'Why?', role: 'assistant' }),
      )
      expect(texts(turns)).toEqual(expected)
      expect(turns.at(-1)).toMatchObject({ name: 'Grace Hopper', user_id: grace.id })
    }
  })

  it('has what the question came with before it, also for a variant and after a restart, and in no list', async () => {
    const conversation_id = await startRoom('topics')
    const context: QuestionContext = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'One?' },
      { role: 'assistant', content: 'One.' },
    ]
    const { message_id: root } = await ada.messages.postRoot(conversation_id, { content: 'First', role: 'user' })
    const actor = await service.chat.users.actor(ada.id)
    const asked = await turnsOf('path', () =>
      post(contextOf(service.chat), {
        actor,
        input: { content: 'Two?', role: 'assistant', assistant: 'path' },
        where: { parent_id: root },
        context,
      }),
    )
    const expected = ['First', 'Be brief.', 'One?', 'One.', 'Two?']
    expect(texts(asked.turns)).toEqual(expected)
    const { id } = asked.message
    expect(await ada.messages.get(id)).toMatchObject({ context, prompt: 'Two?' })
    const { messages } = await ada.threads.tree(root)
    expect(messages.map(({ context }) => context)).toEqual([undefined, undefined])

    const again = await turnsOf('path', () =>
      ada.messages.reply(root, { content: 'Two?', role: 'assistant', assistant: 'path', variant_of: id }),
    )
    expect(texts(again.turns)).toEqual(expected)
    expect(await ada.messages.get(again.message.id)).not.toHaveProperty('context')
    const below = await turnsOf('path', () =>
      ada.messages.reply(id, { content: 'Three?', role: 'assistant', assistant: 'path' }),
    )
    expect(texts(below.turns)).toEqual(['First', 'Two?', 'path', 'Three?'])

    await ada.messages.remove(id)
    expect(await ada.messages.get(id)).not.toHaveProperty('context')
  })

  it('is the thread for every layout where it is configured, without deleted and with edited messages', async () => {
    const conversation_id = await startRoom('topics')
    const { message_id: root } = await ada.messages.postRoot(conversation_id, { content: 'First' })
    const { message_id: gone } = await grace.messages.reply(root, { content: 'Gone' })
    const { message_id: edited } = await ada.messages.reply(gone, { content: 'Befoer' })
    await ada.messages.edit(edited, { content: 'Before' })
    await grace.messages.remove(gone)
    const ask = { content: 'Why?', role: 'assistant' as const }
    const thread = await turnsOf('thread', () => ada.messages.reply(root, { ...ask, assistant: 'thread' }))
    expect(texts(thread.turns)).toEqual(['First', 'Before', 'Why?'])
    const path = await turnsOf('path', () => ada.messages.reply(root, { ...ask, assistant: 'path' }))
    expect(texts(path.turns)).toEqual(['First', 'Why?'])
  })

  it('has of variants the one above, and the question last also when it is asked again', async () => {
    const conversation_id = await startRoom('topics')
    const { message_id: root } = await ada.messages.postRoot(conversation_id, { content: 'Start' })
    const ask = { content: 'Why?', role: 'assistant' as const, assistant: 'thread' }
    const first = await turnsOf('thread', () => ada.messages.reply(root, ask))
    const second = await turnsOf('thread', () => ada.messages.reply(root, { ...ask, variant_of: first.message.id }))
    expect(texts(second.turns)).toEqual(['Start', 'Why?'])
    await ada.messages.reply(first.message.id, { content: 'Below the first' })
    const more = await turnsOf('thread', () => ada.messages.reply(second.message.id, { ...ask, content: 'And?' }))
    expect(texts(more.turns)).toEqual(['Start', 'Why?', 'thread', 'And?'])

    const { answers, message } = await ada.messages.reply(root, { content: 'Hey @thread' })
    const asked = await puppets.thread.asked()
    asked.say('Yes')
    asked.end()
    await service.idle()
    expect(texts(asked.request.turns).at(-1)).toBe('Hey @thread')
    await ada.messages.reply(root, { content: 'Later' })
    const again = await turnsOf('thread', () =>
      ada.messages.reply(message.id, { content: '', role: 'assistant', variant_of: answers![0]!.id }),
    )
    expect(texts(again.turns).at(-1)).toBe('Hey @thread')
    expect(texts(again.turns)).not.toContain('Later')
  })

  it('is for a root the twenty messages before it, and at most as many bytes as it may have', async () => {
    const conversation_id = await startRoom('stream')
    for (const n of times(22, (n) => n)) await ada.messages.postRoot(conversation_id, { content: `n${n}` })
    const ask = { content: 'Why?', role: 'assistant' as const }
    const { turns } = await turnsOf('assistant', () => ada.messages.postRoot(conversation_id, ask))
    expect(texts(turns)).toEqual([...times(20, (n) => `n${n + 2}`), 'Why?'])
    const { turns: short } = await turnsOf('short', () =>
      grace.messages.postRoot(conversation_id, { ...ask, assistant: 'short' }),
    )
    expect(texts(short).at(-1)).toBe('Why?')
    expect(texts(short).join('').length).toBeLessThanOrEqual(24)
    expect(short.length).toBeGreaterThan(1)
  })

  it('is also for a root that names its assistant the twenty messages before it', async () => {
    const conversation_id = await startRoom('stream')
    for (const n of times(22, (n) => n)) await ada.messages.postRoot(conversation_id, { content: `n${n}` })
    const { message_id, answers } = await ada.messages.postRoot(conversation_id, { content: 'Why @thread?' })
    const named = await puppets.thread.asked()
    expect(texts(named.request.turns)).toEqual([...times(20, (n) => `n${n + 2}`), 'Why @thread?'])
    named.say('Because')
    named.end()
    await service.idle()
    const { turns } = await turnsOf('thread', () =>
      ada.messages.reply(message_id, { content: '', role: 'assistant', variant_of: answers![0]!.id }),
    )
    expect(texts(turns)).toEqual([...times(20, (n) => `n${n + 2}`), 'Why @thread?'])
  })

  it('has at most two hundred messages', async () => {
    const conversation_id = await startRoom('stream')
    const { message_id: root } = await ada.messages.postRoot(conversation_id, { content: 'Root' })
    await Promise.all(times(210, (n) => ada.messages.reply(root, { content: `n${n}` })))
    const { turns } = await turnsOf('assistant', () => ada.messages.reply(root, { content: 'Why?', role: 'assistant' }))
    expect(turns).toHaveLength(200)
    expect(texts(turns)).not.toContain('Root')
  })

  it('has the name of one alone where names are always wanted', async () => {
    const conversation_id = await startRoom('topics')
    const { turns } = await turnsOf('named', () =>
      grace.messages.postRoot(conversation_id, { content: 'Why?', role: 'assistant', assistant: 'named' }),
    )
    expect(texts(turns)).toEqual(['Grace Hopper: Why?'])
  })
})
