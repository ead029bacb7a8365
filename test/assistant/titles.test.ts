import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Assistant, AssistantRequest } from '../../lib/assistant/provider.ts'
import { toTitle } from '../../lib/assistant/titles.ts'
import { sql } from '../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { innerState, startService, type TestService } from '../support/service.ts'

describe('toTitle', () => {
  it.each([
    ['Engines', 'Engines'],
    ['\n  \n"Engines and looms"\nmore', 'Engines and looms'],
    ['„Webstühle“', 'Webstühle'],
    ['a\u0000b\u202ec', 'abc'],
    ['x'.repeat(200), 'x'.repeat(80)],
    [`${'x'.repeat(79)}\u{1f600}`, 'x'.repeat(79)],
    [' \n\t', ''],
  ])('of %j is %j', (text, title) => {
    expect(toTitle(text)).toBe(title)
  })
})

describeOnEachDatabase('titles by the assistant', (openUrl) => {
  let service: TestService
  let requests: AssistantRequest[]
  let title: string | Error | (() => Promise<string>)

  beforeEach(() => {
    requests = []
    title = 'Weaving engines'
  })
  afterEach(() => service.close())

  async function start(settings: object = { titles: true }, config: object = {}) {
    const assistant: Assistant = async function* (request) {
      requests.push(request)
      if (request.purpose === 'answer') {
        yield 'As a loom weaves.'
        return
      }
      if (title instanceof Error) throw title
      yield { delta: typeof title === 'string' ? title : await title() }
      yield { usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 } }
    }
    service = await startService(await openUrl(), { config: { ...config, assistant: settings }, ports: { assistant } })
    const ada = await service.signIn('ada')
    const { conversation_id } = await ada.conversations.create({ layout: 'assistant' })
    const ask = async () => {
      const { message_id } = await ada.messages.postRoot(conversation_id, { content: 'How does it weave?' })
      await service.idle()
      await innerState(service).tasks.settle()
      return message_id
    }
    const read = async () => (await ada.conversations.get(conversation_id)).title
    return { ada, conversation_id, ask, read }
  }

  const purposes = () => requests.map(({ purpose }) => purpose)

  it('name a conversation after its first answer, which counts as used and as no answer', async () => {
    const { ask, read, ada } = await start()
    const message_id = await ask()
    expect(await read()).toBe('Weaving engines')
    expect(requests[1]).toMatchObject({
      purpose: 'title',
      tools: [],
      turns: [{ content: 'How does it weave?' }, { content: 'As a loom weaves.' }, { role: 'user' }],
    })
    const entries = await innerState(service).db.all(
      sql`SELECT message_id, kind, user_id, prompt_tokens, completion_tokens FROM usage_entries WHERE kind = 'title'`,
    )
    expect(entries).toEqual([{ message_id, kind: 'title', user_id: ada.id, prompt_tokens: 7, completion_tokens: 2 }])
    const { periods } = await ada.usage.get()
    expect(periods[0]!.answers).toBe(1)
    await ask()
    expect(purposes()).toEqual(['answer', 'title', 'answer'])
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('are made for no other conversation, and not unless it is configured', async () => {
    const { ada } = await start()
    const { conversation_id } = await ada.conversations.create({ title: 'Named', layout: 'assistant' })
    const stream = await ada.conversations.create({})
    for (const id of [conversation_id, stream.conversation_id])
      await ada.messages.postRoot(id, { content: 'Why?', role: 'assistant' })
    await service.idle()
    await innerState(service).tasks.settle()
    expect(purposes()).toEqual(['answer', 'answer'])
    await service.close()
    requests = []
    const { ask, read } = await start({})
    await ask()
    expect([purposes(), await read()]).toEqual([['answer'], ''])
  })

  it('never replace that of a person', async () => {
    let release = () => {}
    const gate = new Promise<string>((resolve) => {
      release = () => resolve('Too late')
    })
    title = () => gate
    const { ada, conversation_id, read } = await start()
    await ada.messages.postRoot(conversation_id, { content: 'Why?' })
    await vi.waitUntil(() => requests.length === 2, { timeout: 30_000 })
    await ada.conversations.rename(conversation_id, { title: 'By Ada' })
    release()
    await service.idle()
    await innerState(service).tasks.settle()
    expect(await read()).toBe('By Ada')
  })

  it('are left out when the model fails, and beyond a quota', async () => {
    title = new Error('secret')
    const { ask, read } = await start()
    await ask()
    expect([purposes(), await read()]).toEqual([['answer', 'title'], ''])
    await service.close()
    requests = []
    title = 'Weaving engines'
    const quotas = { usage: { quotas: [{ role: '*', period: 'day', tokens: 2_001 }], reserve_tokens: 2_000 } }
    const limited = await start({ titles: true }, quotas)
    await limited.ask()
    expect([purposes(), await limited.read()]).toEqual([['answer'], ''])
  })
})
