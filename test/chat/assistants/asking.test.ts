import * as v from 'valibot'
import { beforeAll, expect, it } from 'vitest'
import type { Message } from '../../../lib/client/index.ts'
import { defineTool } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { createPuppet } from '../../support/assistant.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { codeOf, innerState, type Person, startService, startThread } from '../../support/service.ts'

const ORDER = { description: 'About an order', input: v.object({ order: v.string() }), run: () => null }

describeOnEachDatabase('several assistants', (openUrl) => {
  const puppets = { assistant: createPuppet(), helper: createPuppet(), coder: createPuppet(), boss: createPuppet() }
  const service = setUpService(async () =>
    startService(await openUrl(), {
      config: { assistant: { name: 'Ada', max_running_per_user: 4 } },
      ports: {
        tools: {
          refund: defineTool({ ...ORDER, title: 'Refund', approval: { by: 'admins', quorum: 2 } }),
          find_order: defineTool({ ...ORDER, approval: () => false }),
        },
        assistant: puppets.assistant.assistant,
        assistants: {
          helper: {
            provider: puppets.helper.assistant,
            title: 'Helping hand',
            images: true,
            tools: ['refund', 'find_order'],
          },
          coder: { provider: puppets.coder.assistant, avatar_url: 'https://example.org/coder.png' },
          boss: { provider: puppets.boss.assistant, who: ['admin'], stop: 'members' },
        },
      },
    }),
  )
  let ada: Person
  let grace: Person
  let eve: Person
  let conversation_id: string
  beforeAll(async () => {
    ;({ ada, grace, conversation_id } = await startThread(service))
    eve = await service.signIn('eve')
  })

  type Key = keyof typeof puppets

  /** Lets an assistant answer its next question. Answers end a moment later. */
  const answered = async (key: Key, text = `by ${key}`) => {
    const answer = await puppets[key].asked()
    answer.say(text)
    answer.end()
    return answer.request
  }

  const ask = async (person: Person, input: object, parent?: string): Promise<Message> => {
    const body = { content: 'Why?', role: 'assistant' as const, ...input }
    const posted = parent ? person.messages.reply(parent, body) : person.messages.postRoot(conversation_id, body)
    return (await posted).message
  }

  it('are listed for each caller as far as the caller may ask them', async () => {
    const list = async (person: Person, id?: string) =>
      (await person.assistants.list({ conversation_id: id })).assistants
    expect(await list(ada)).toEqual([
      { key: 'assistant', title: 'Ada', default: true, tools: [], images: false, text_files: false },
      {
        key: 'helper',
        title: 'Helping hand',
        tools: [
          {
            name: 'refund',
            title: 'Refund',
            approval: { by: 'admins', quorum: 2, not_asker: false, keys: false, expires_seconds: 86_400 },
          },
          { name: 'find_order', title: 'find_order' },
        ],
        images: true,
        text_files: false,
      },
      {
        key: 'coder',
        title: 'Coder',
        avatar_url: 'https://example.org/coder.png',
        tools: [],
        images: false,
        text_files: false,
      },
      { key: 'boss', title: 'Boss', tools: [], images: false, text_files: false },
    ])
    expect((await list(grace, conversation_id)).map(({ key }) => key)).toEqual(['assistant', 'helper', 'coder'])
    expect(await codeOf(list(eve, conversation_id))).toBe('not_found')
    expect((await ada.capabilities.get()).assistant).toEqual({ name: 'Ada' })
  })

  it('answer what they are asked, and what follows: the variant, the nearest answer above, else the default', async () => {
    const first = await ask(ada, { assistant: 'helper' })
    expect(first).toMatchObject({ assistant: 'helper', prompt: 'Why?' })
    await answered('helper')
    await service.idle()
    expect(await grace.messages.get(first.id)).toMatchObject({ assistant: 'helper', content: 'by helper' })
    const below = await ask(grace, {}, first.id)
    expect(below.assistant).toBe('helper')
    await answered('helper')
    const variant = await ask(ada, { variant_of: first.id })
    expect(variant.assistant).toBe('helper')
    await answered('helper')
    const other = await ask(ada, { assistant: 'coder' }, below.id)
    await answered('coder')
    expect((await ask(ada, {}, other.id)).assistant).toBe('coder')
    await answered('coder')
    const { message } = await ada.messages.reply(first.id, { content: 'Fine.' })
    expect((await ask(ada, {}, message.id)).assistant).toBe('helper')
    await answered('helper')
    expect((await ask(ada, {})).assistant).toBe('assistant')
    await answered('assistant')
    await service.idle()
    await ada.messages.remove(first.id, {})
    const tombstone = await ada.messages.get(first.id)
    expect(tombstone).toMatchObject({ assistant: 'helper', content: '' })
    expect(tombstone).not.toHaveProperty('prompt')
  })

  it('refuse keys that they do not have, and people who may not ask', async () => {
    const failing = async (person: Person, input: object) => codeOf(ask(person, input))
    expect(await failing(ada, { assistant: 'nobody' })).toBe('validation_failed')
    expect(await failing(ada, { role: 'user', assistant: 'helper' })).toBe('validation_failed')
    expect(await failing(ada, { role: 'user', mentions: { assistants: ['nobody'] } })).toBe('validation_failed')
    const unknown = ada.messages.postRoot(conversation_id, { content: 'Why?', mentions: { assistants: ['nobody'] } })
    await expect(unknown).rejects.toMatchObject({ errors: [{ path: 'mentions.assistants[0]' }] })
    const four = ['helper', 'coder', 'assistant', 'boss']
    expect(await failing(ada, { role: 'user', mentions: { assistants: four } })).toBe('validation_failed')
    expect(await failing(grace, { assistant: 'boss' })).toBe('forbidden')
    expect(await failing(grace, { role: 'user', mentions: { assistants: ['boss'] } })).toBe('forbidden')
    const { answers, message } = await grace.messages.postRoot(conversation_id, { content: '@boss why?' })
    expect([answers, message.mentions]).toEqual([undefined, undefined])
  })

  it('reply to a message that names them, with the message as their question', async () => {
    const content = 'Why, @helper and @coder (and `@assistant`)? @nobody @helper'
    const { message, answers } = await grace.messages.postRoot(conversation_id, { content, role: 'user' })
    expect(message.mentions).toEqual({ user_ids: [], assistants: ['helper', 'coder'] })
    expect(answers).toMatchObject(
      ['helper', 'coder'].map((assistant) => ({
        assistant,
        parent_id: message.id,
        requested_by: grace.id,
        status: 'streaming',
      })),
    )
    expect(answers!.some((answer) => 'prompt' in answer)).toBe(false)
    const instants = [message, ...answers!].map(({ created_at }) => created_at)
    expect(new Set(instants).size).toBe(3)
    expect(instants.toSorted()).toEqual(instants)
    // Behind what others wrote before it, and so with the name of its author.
    const question = { role: 'user', content: `grace: ${content}`, name: 'grace', user_id: grace.id }
    expect((await answered('helper')).turns.at(-1)).toEqual(question)
    await answered('coder')
    await service.idle()
    const [first] = answers!
    expect(await ada.messages.get(first!.id)).toMatchObject({ content: 'by helper', status: 'complete' })
    const again = await ask(ada, { content: '', variant_of: first!.id }, message.id)
    expect(again).toMatchObject({ assistant: 'helper', variant_of: first!.id })
    expect(again).not.toHaveProperty('prompt')
    expect((await answered('helper')).turns.at(-1)).toEqual(question)
    const root = await ask(ada, { assistant: 'helper' })
    await answered('helper')
    expect(await codeOf(ask(ada, { content: '', variant_of: root.id }))).toBe('validation_failed')
  })

  it('are asked by the list of mentions instead of the text; a repeated post returns the same answers', async () => {
    const input = {
      content: 'Why, @helper?',
      role: 'user' as const,
      mentions: { assistants: ['coder', 'coder', 'assistant'] },
    }
    const post = () => ada.messages.postRoot(conversation_id, input, { headers: { 'idempotency-key': 'twice' } })
    const first = await post()
    expect(first.answers?.map(({ assistant }) => assistant)).toEqual(['coder', 'assistant'])
    await answered('coder')
    await answered('assistant')
    await service.idle()
    const second = await post()
    expect(second.answers?.map(({ id }) => id)).toEqual(first.answers?.map(({ id }) => id))
    expect(second.answers?.[0]).toMatchObject({ content: 'by coder' })
  })

  it('stop when the message that is their question is deleted', async () => {
    const { message, answers } = await ada.messages.postRoot(conversation_id, { content: '@helper @coder why?' })
    const asked = [await puppets.helper.asked(), await puppets.coder.asked()]
    await ada.messages.remove(message.id, {})
    await Promise.all(asked.map(({ aborted }) => aborted))
    for (const answer of asked) answer.end()
    await service.idle()
    for (const { id } of answers!) expect((await ada.messages.get(id)).status).toBe('cancelled')
  })

  it('are stopped by members where their settings allow it', async () => {
    const [boss, helper] = [await ask(ada, { assistant: 'boss' }), await ask(ada, { assistant: 'helper' })]
    const { status } = await grace.answers.cancel(boss.id)
    expect([status, await codeOf(grace.answers.cancel(helper.id))]).toEqual(['cancelled', 'forbidden'])
    for (const key of ['boss', 'helper'] as const) (await puppets[key].asked()).end()
    await service.idle()
  })

  it('store nothing of a message that asks more than may be in progress', async () => {
    const before = (await ada.conversations.get(conversation_id)).stream_position
    const { answers } = await ada.messages.postRoot(conversation_id, { content: '@helper @coder @assistant why?' })
    const { stream_position } = await ada.conversations.get(conversation_id)
    expect(stream_position).not.toBe(before)
    expect(await codeOf(ada.messages.postRoot(conversation_id, { content: '@helper and @coder?' }))).toBe(
      'rate_limited',
    )
    expect((await ada.conversations.get(conversation_id)).stream_position).toBe(stream_position)
    for (const { id } of answers!) await ada.answers.cancel(id)
    for (const key of ['helper', 'coder', 'assistant'] as const) (await puppets[key].asked()).end()
    await service.idle()
  })

  it('come after a participant with their name, and are not searched for in posts of programs', async () => {
    // Since before there was an assistant of this name.
    const coder = await service.signIn('early')
    await innerState(service).db.run(
      sql`UPDATE users SET username = 'coder', username_key = 'coder' WHERE id = ${coder.id}`,
    )
    const { conversation_id } = await ada.conversations.create({ title: 'Names' })
    await ada.participants.add(conversation_id, { user_id: coder.id })
    const { message, answers } = await ada.messages.postRoot(conversation_id, { content: 'Hello @coder' })
    expect([message.mentions, answers]).toEqual([{ user_ids: [coder.id] }, undefined])
    const system = await service.chat.system('orders')
    const posted = await service.chat.messages.postRoot(system, conversation_id, { content: 'Hello @helper' })
    expect(posted.answers).toBeUndefined()
  })
})
