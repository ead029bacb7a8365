import { beforeAll, expect, it } from 'vitest'
import { OPERATOR } from '../../../lib/core/actor.ts'
import { createPuppet } from '../../support/assistant.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { listEventsAfter } from '../../support/events-after.ts'
import { codeOf, type Person, startService, startThread } from '../../support/service.ts'

describeOnEachDatabase('the assistant of a conversation', (openUrl) => {
  const puppet = createPuppet()
  const service = setUpService(async () =>
    startService(await openUrl(), {
      config: { assistant: { system_prompt: 'Be brief.' } },
      ports: {
        assistant: puppet.assistant,
        assistants: { helper: { provider: puppet.assistant }, coder: { provider: puppet.assistant } },
      },
    }),
  )
  let ada: Person
  let grace: Person
  beforeAll(async () => {
    ;({ ada, grace } = await startThread(service))
  })

  const begin = async () => {
    const { conversation_id } = await ada.conversations.create({ title: 'Engines' })
    await ada.participants.add(conversation_id, { user_id: grace.id })
    return conversation_id
  }

  const ask = async (person: Person, id: string, input: object = {}) => {
    const { message } = await person.messages.postRoot(id, { content: 'Why?', role: 'assistant', ...input })
    const answer = await puppet.asked()
    answer.say('Because.')
    answer.end()
    await service.idle()
    expect(answer.request.assistant).toBe(message.assistant)
    return { key: message.assistant, turns: answer.request.turns }
  }

  const errorOf = (call: Promise<unknown>) =>
    call.then(
      () => 'none',
      (error: { code: string }) => error.code,
    )

  it('is chosen by its owner, read by its participants, and asked where a question names none', async () => {
    const id = await begin()
    const { stream_position } = await ada.conversations.get(id)
    const assistant = { key: 'helper', prompt: 'Engines only.' }
    expect((await ada.conversations.rename(id, { assistant })).assistant).toEqual(assistant)
    expect((await grace.conversations.get(id)).assistant).toEqual(assistant)
    const listed = (await grace.conversations.list({})).conversations.find((each) => each.id === id)
    expect(listed?.assistant).toEqual({ key: 'helper' })
    const events = await listEventsAfter(grace, id, stream_position!)
    expect(events.map(({ type, payload }) => [type, payload])).toMatchObject([
      ['conversation.updated', { conversation: { assistant } }],
    ])
    expect(await ask(grace, id)).toMatchObject({
      key: 'helper',
      turns: [{ role: 'system', content: 'Be brief.\n\nEngines only.' }, {}],
    })
    expect((await ask(grace, id, { assistant: 'coder' })).key).toBe('coder')
    expect((await ada.conversations.rename(id, { assistant: null })).assistant).toBeUndefined()
    expect((await ask(grace, id)).key).toBe('assistant')
    const { entries } = await service.chat.audit.list(OPERATOR, { act: 'conversation.policy_changed' })
    expect(entries.filter(({ subject_id }) => subject_id === id).map(({ detail }) => detail)).toEqual([
      { assistant: 'unset', assistant_prompt: 'unset' },
      { assistant: 'helper', assistant_prompt: 'changed' },
    ])
  })

  it('is one that the policy allows, in a post and in a text', async () => {
    const id = await begin()
    const { policy } = await ada.conversations.rename(id, { policy: { assistants: ['helper'] } })
    expect(policy.assistants).toEqual(['helper'])
    const list = async () => (await grace.assistants.list({ conversation_id: id })).assistants.map(({ key }) => key)
    expect(await list()).toEqual(['helper'])
    const post = (input: object) => ada.messages.postRoot(id, { content: 'Why, @coder?', ...input })
    expect(await errorOf(post({ role: 'assistant' }))).toBe('forbidden')
    expect(await errorOf(post({ role: 'assistant', assistant: 'coder' }))).toBe('forbidden')
    expect(await errorOf(post({ mentions: { assistants: ['coder'] } }))).toBe('forbidden')
    expect((await post({})).answers).toBeUndefined()
    expect((await ask(ada, id, { assistant: 'helper' })).key).toBe('helper')
    await ada.conversations.rename(id, { policy: { assistants: 'none' } })
    expect([await list(), await errorOf(post({ role: 'assistant', assistant: 'helper' }))]).toEqual([[], 'forbidden'])
    await ada.conversations.rename(id, { policy: { assistants: 'all' } })
    expect(await list()).toEqual(['assistant', 'helper', 'coder'])
  })

  it('refuses unknown keys, long prompts, and members', async () => {
    const id = await begin()
    const change = (person: Person, input: object) => errorOf(person.conversations.rename(id, input))
    expect(await change(ada, { assistant: { key: 'nobody' } })).toBe('validation_failed')
    expect(await change(ada, { policy: { assistants: ['nobody'] } })).toBe('validation_failed')
    const unknown = ada.conversations.rename(id, { policy: { assistants: ['nobody'] } })
    await expect(unknown).rejects.toMatchObject({ errors: [{ path: 'policy.assistants[0]' }] })
    expect(await change(ada, { policy: { assistants: 'some' } })).toBe('validation_failed')
    expect(await change(ada, { assistant: { prompt: 'ä'.repeat(4097) } })).toBe('validation_failed')
    expect(await change(ada, { assistant: { prompt: 'ä'.repeat(4096) } })).toBe('none')
    expect(await change(grace, { assistant: { key: 'helper' } })).toBe('forbidden')
    expect(await change(grace, { policy: { assistants: 'none' } })).toBe('forbidden')
    const input = { title: 'x', policy: { assistants: ['nobody'] } }
    expect(await codeOf(ada.conversations.create(input))).toBe('validation_failed')
  })
})
