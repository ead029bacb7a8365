import OpenAI from 'openai'
import { expect, it, vi } from 'vitest'
import { defineTool } from '../../../lib/index.ts'
import { ANY, call, type Script, useServices } from '../../assistant/runs/world.ts'
import { checkedFetch } from '../../support/answers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import type { Person, TestService } from '../../support/service.ts'

describeOnEachDatabase('conversations of OpenAI', (openUrl) => {
  const servers = useServices(openUrl)

  async function sdkOf(service: TestService, person: Person) {
    const { key } = await person.keys.create({ name: 'sdk' })
    return new OpenAI({ baseURL: `${service.base_url}/v1`, apiKey: key, maxRetries: 0, fetch: checkedFetch })
  }

  async function start(script: Script = ({ turns }) => [`On: ${turns.at(-1)!.content}`]) {
    const approval = { by: 'asker', keys: true } as const
    const refund = defineTool({ description: 'Refunds', input: ANY, run: async () => 'ok', approval })
    const { service, requests } = await servers.start({ tools: { refund }, script })
    const ada = await service.signIn('ada')
    return { service, ada, openai: await sdkOf(service, ada), requests }
  }

  it('are threads: each question is below the newest answer', async () => {
    const { openai, ada, requests } = await start()
    const conversation = await openai.conversations.create({ metadata: { topic: 'trip' } })
    const { conversation_id = '' } = conversation.metadata as { conversation_id?: string }
    expect(conversation).toMatchObject({ object: 'conversation', metadata: { topic: 'trip' } })
    expect((await openai.conversations.items.list(conversation.id)).data).toEqual([])
    const one = await openai.responses.create({ input: 'One?', conversation: conversation.id })
    expect(one.conversation).toEqual({ id: conversation.id })
    const two = await openai.responses.create({ input: 'Two?', conversation: { id: conversation.id } })
    expect(two).toMatchObject({ output_text: 'On: Two?', previous_response_id: one.id })
    expect(requests.at(-1)!.turns.map(({ content }) => content)).toEqual(['One?', 'On: One?', 'Two?'])
    expect(await openai.conversations.retrieve(conversation.id)).toEqual(conversation)

    const asc = await openai.conversations.items.list(conversation.id, { order: 'asc' })
    const texts = asc.data.map((item) => (item.type === 'message' ? [item.role, Object(item.content[0]).text] : []))
    expect(texts).toEqual([
      ['user', 'One?'],
      ['assistant', 'On: One?'],
      ['user', 'Two?'],
      ['assistant', 'On: Two?'],
    ])
    const paged: string[] = []
    for await (const item of openai.conversations.items.list(conversation.id, { limit: 3 })) paged.push(item.id!)
    expect(paged).toEqual(asc.data.map(({ id }) => id!).toReversed())
    await expect(openai.conversations.items.list(conversation.id, { limit: 0 })).rejects.toMatchObject({ status: 422 })
    expect((await openai.conversations.items.list(conversation.id, { limit: 1_000 })).data).toHaveLength(4)
    const item = await openai.conversations.items.retrieve(paged[1]!, { conversation_id: conversation.id })
    expect(item).toEqual(asc.data[2])
    expect((await ada.threads.list(conversation_id)).threads).toHaveLength(1)
  })

  it('are in the conversation that their metadata name, for their maker alone', async () => {
    const { service, openai, ada } = await start()
    const { conversation_id } = await ada.conversations.create({ title: 'Room' })
    const grace = await service.signIn('grace')
    await ada.participants.add(conversation_id, { user_id: grace.id })
    const { id } = await openai.conversations.create({ metadata: { conversation_id } })
    const asked = await openai.responses.create({ input: 'Why?', conversation: id })
    expect((await grace.threads.list(conversation_id)).threads).toHaveLength(1)
    const other = await sdkOf(service, grace)
    // The answer is hers to read; the name is not.
    expect(await other.responses.retrieve(asked.id)).toMatchObject({ output_text: 'On: Why?' })
    await expect(other.conversations.retrieve(id)).rejects.toMatchObject({ status: 404 })
    await expect(other.responses.create({ input: 'And?', conversation: id })).rejects.toMatchObject({ status: 404 })
    const eve = await sdkOf(service, await service.signIn('eve'))
    await expect(eve.conversations.create({ metadata: { conversation_id } })).rejects.toMatchObject({ status: 404 })
    await expect(eve.conversations.create({ metadata: { conversation_id: 'x' } })).rejects.toMatchObject({
      status: 422,
    })
    await expect(
      openai.conversations.create({ items: [{ type: 'message', role: 'user', content: 'Hi' }] }),
    ).rejects.toMatchObject({ status: 422, param: 'items' })
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('begin one thread for two first questions at once; the second waits for its turn', async () => {
    const { openai, ada } = await start()
    const { id, metadata } = await openai.conversations.create({})
    const ask = (input: string) => openai.responses.create({ input, conversation: id })
    const settled = await Promise.allSettled([ask('One?'), ask('Two?')])
    const refused = settled.flatMap((each) => (each.status === 'rejected' ? each.reason : []))
    for (const error of refused) expect(error).toMatchObject({ status: 409, code: 'message_streaming' })
    const { conversation_id } = metadata as { conversation_id: string }
    expect((await ada.threads.list(conversation_id)).threads).toHaveLength(1)
  })

  it('have calls with what was decided, and nothing of a deleted answer', async () => {
    const { openai, ada } = await start(({ step }) => (step === 1 ? [{ reasoning: 'Hm' }, call('refund')] : ['Done.']))
    const { id } = await openai.conversations.create({})
    const first = await openai.responses.create({ input: 'Refund', conversation: id })
    const approval_request_id = first.output.at(-1)!.id!
    await openai.responses.create({ input: [{ type: 'mcp_approval_response', approval_request_id, approve: true }] })
    const items = await openai.conversations.items.list(id, { order: 'asc' })
    expect(items.data.map(({ type }) => type)).toEqual([
      'message',
      'reasoning',
      'mcp_approval_request',
      'mcp_call',
      'message',
    ])
    expect(items.data.slice(1, 3)).toEqual(first.output)
    await openai.responses.delete(first.id)
    await expect(openai.conversations.items.list(id)).rejects.toMatchObject({ status: 404 })
    await vi.waitUntil(async () => (await ada.conversations.list()).conversations.length === 1, { timeout: 30_000 })
  })
})
