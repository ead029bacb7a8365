import { describe, expect, it } from 'vitest'
import type { Assistant } from '../../../lib/assistant/provider.ts'
import { createAssistantChat } from '../../../lib/client/store/assistant.ts'
import type { ChatStore } from '../../../lib/client/store/index.ts'
import { assistantOf } from '../../../lib/client/store/parts.ts'
import { defineTool } from '../../../lib/index.ts'
import { isReady, startWorld, waitForView } from './world.ts'

const ANY = { json_schema: { type: 'object' }, validate: (value: unknown) => ({ value: value as object }) }
const pay = defineTool({ description: 'Pays', input: ANY, approval: { by: 'asker' }, run: () => 'paid' })

/** What answers wait for: until it is opened, they write half of their text. */
function createGate() {
  let open = () => {}
  let gate = new Promise<void>((resolve) => {
    open = resolve
  })
  return {
    passed: () => gate,
    open: () => open(),
    shut() {
      gate = new Promise((resolve) => {
        open = resolve
      })
    },
  }
}

/** Ada's talk with an assistant, which answers with the question, and does what some questions ask for. */
async function startTalk({ config = {} }: { config?: object } = {}) {
  const gate = createGate()
  const assistant: Assistant = async function* ({ turns, step, assistant: key }) {
    const { content } = turns.at(-1)!
    if (content === 'fail') throw new Error('broken')
    if (content === 'pay' && step === 1) {
      yield { tool_call: { name: 'pay', input: { cents: 5 } } }
      return
    }
    yield `${key}: `
    if (content.startsWith('slow')) await gate.passed()
    yield `${content}.`
  }
  const world = await startWorld({
    assistant,
    assistants: { helper: { provider: assistant } },
    tools: { pay },
    config: { assistant: { tools: ['pay'], drain_seconds: 0 }, ...config },
  })
  const { conversation_id } = await world.ada.conversations.create({ layout: 'assistant', title: 'A talk' })
  const talk = assistantOf(world.store, conversation_id)
  talk.subscribe(() => {})
  await waitForView(talk, isReady)
  return {
    ...world,
    gate,
    conversation_id,
    talk,
    until: (status: string) => waitForView(talk, (view) => view.status === status),
  }
}

const linesOf = ({ getSnapshot }: ReturnType<typeof assistantOf>) =>
  getSnapshot().messages.map(({ prompt, content }) => `${prompt} ${content}`)

describe('the talk of a store with an assistant', () => {
  it('is the same at each call, and nothing before it is read', async () => {
    const { store, network } = await startWorld()
    const talk = assistantOf(store, 'c')
    expect(assistantOf(store, 'c')).toBe(talk)
    expect(talk.getSnapshot()).toEqual({ status: 'loading', messages: [], has_older: false, approvals: [] })
    expect(talk.getServerSnapshot()).toBe(talk.getSnapshot())
    expect(network.calls).toEqual([])
    expect(() => assistantOf({} as ChatStore, 'c')).toThrow(TypeError)
  })

  it('asks below the last answer, and says what goes on', async () => {
    const { talk, gate, until } = await startTalk()
    const seen = new Set<string>()
    talk.subscribe(() => seen.add(talk.getSnapshot().status))
    await talk.send('slow one')
    await until('streaming')
    gate.open()
    await until('ready')
    await talk.send('two')
    await waitForView(talk, ({ messages }) => messages.length === 2 && messages[1]!.status === 'complete')
    expect(linesOf(talk)).toEqual(['slow one assistant: slow one.', 'two assistant: two.'])
    const [first, second] = talk.getSnapshot().messages
    expect([first!.parent_id, second!.parent_id]).toEqual([undefined, first!.id])
    expect([...seen]).toEqual(['sending', 'streaming', 'ready'])
    expect(talk.getSnapshot()).toBe(talk.getSnapshot())
    const { message } = (await talk.send('three', { parent_id: null, assistant: 'helper' }))!
    expect([message.parent_id, message.assistant]).toEqual([undefined, 'helper'])
    const misspelt = { asistant: 'helper' } as object
    await expect(talk.send('four', misspelt)).rejects.toThrow('no "asistant"')
    await until('ready')
    await expect(talk.regenerate(misspelt)).rejects.toThrow('no "asistant"')
  })

  it('begins a thread where one has no room for another answer', async () => {
    const { talk, until } = await startTalk({ config: { limits: { max_depth: 1 } } })
    for (const content of ['one', 'two', 'three']) {
      await talk.send(content)
      await until('ready')
    }
    const [one, two, three] = talk.getSnapshot().messages
    expect([two!.parent_id, three!.parent_id]).toEqual([one!.id, undefined])
  })

  it("stops the user's own answers, and no others", async () => {
    const { talk, grace, ada, until, conversation_id, actor } = await startTalk()
    await ada.participants.add(conversation_id, { user_id: actor('grace').user_id })
    const { message_id } = await grace.messages.postRoot(conversation_id, { content: 'slow other' })
    await waitForView(talk, ({ messages }) => messages.some(({ content }) => content !== ''))
    expect(talk.getSnapshot().status).toBe('ready')
    await talk.send('slow own')
    await until('streaming')
    await talk.stop()
    await until('ready')
    const statuses = talk.getSnapshot().messages.map(({ id, status }) => [id === message_id, status])
    expect(statuses).toEqual([
      [true, 'streaming'],
      [false, 'cancelled'],
    ])
  })

  it('shows the latest of several answers to a question, with what follows that', async () => {
    const { talk, until } = await startTalk()
    const ask = async (question: Promise<unknown>) => {
      await question
      await until('ready')
    }
    await ask(talk.send('one'))
    await ask(talk.send('two'))
    await ask(talk.regenerate())
    expect(talk.getSnapshot().messages).toHaveLength(2)
    const [first, again] = talk.getSnapshot().messages
    expect(again).toMatchObject({ parent_id: first!.id, variant_of: expect.any(String), prompt: 'two' })
    await ask(talk.regenerate({ message_id: first!.id, content: 'uno', assistant: 'helper' }))
    expect(linesOf(talk)).toEqual(['uno helper: uno.'])
    await ask(talk.send('dos'))
    expect(linesOf(talk)).toEqual(['uno helper: uno.', 'dos helper: dos.'])
  })

  it('refuses to ask again where there is no answer', async () => {
    const { talk } = await startTalk()
    await expect(talk.regenerate()).rejects.toThrow('There is no answer that has ended')
  })

  it('has the calls that wait for a decision, until it or another page decides', async () => {
    const { talk, until, ada } = await startTalk()
    await talk.send('pay')
    const { approvals } = await waitForView(talk, (view) => view.status === 'waiting' && view.approvals.length === 1)
    expect(approvals).toMatchObject([
      { tool: { name: 'pay' }, input: { cents: 5 }, may_decide: true, state: 'waiting' },
    ])
    await talk.decide(approvals[0]!.call_id, { approve: true })
    expect(talk.getSnapshot().approvals).toEqual([])
    await until('ready')
    expect(talk.getSnapshot().messages[0]!.content).toBe('assistant: pay.')
    await expect(talk.decide(approvals[0]!.call_id, { approve: false })).rejects.toMatchObject({ code: 'conflict' })
    await talk.send('pay')
    const next = await waitForView(talk, (view) => view.approvals.length === 1)
    await ada.approvals.decide(next.approvals[0]!.call_id, { approve: false, reason: 'Too much' })
    await waitForView(talk, (view) => view.approvals.length === 0 && view.status === 'ready')
  })

  it('says that the last question has failed: to be answered, or to be sent', async () => {
    const { talk, until, network, store } = await startTalk()
    await talk.send('fail')
    await until('failed')
    expect(talk.getSnapshot().error).toBeUndefined()
    await talk.send('one')
    await until('ready')
    expect(await talk.send('x'.repeat(100_000))).toBeUndefined()
    const { error, messages } = await until('failed')
    expect([error, messages.at(-1)!.pending!.status]).toMatchObject([{ code: 'validation_failed' }, 'failed'])
    store.discard(messages.at(-1)!.pending!.key)
    await until('ready')
    network.isOffline = true
    await talk.send('two')
    expect((await until('failed')).error).toBeInstanceOf(TypeError)
    network.isOffline = false
    await store.retry(talk.getSnapshot().messages.at(-1)!.pending!.key)
    await until('ready')
  })

  it('has failed when its code or its conversation cannot be read', async () => {
    const { store } = await startWorld()
    const gone = assistantOf(store, '00000000-0000-7000-8000-000000000000')
    const failed = ({ status }: { status: string }) => status === 'failed'
    expect((await waitForView(gone, failed)).error).toMatchObject({ code: 'not_found' })
    let isOffline = true
    const late = createAssistantChat(async () => {
      if (isOffline) throw new Error('offline')
      return gone
    })
    const stop = late.subscribe(() => {})
    expect((await waitForView(late, failed)).error).toEqual(new Error('offline'))
    await expect(late.send('one')).rejects.toThrow('offline')
    stop()
    isOffline = false
    await waitForView(late, ({ error }) => (error as { code?: string }).code === 'not_found')
  })
})
