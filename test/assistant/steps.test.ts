import { expect, it } from 'vitest'
import { createAnswerParts } from '../../lib/assistant/answer-parts.ts'
import { ask, type Step } from '../../lib/assistant/ask.ts'
import type { AnswerPiece, AssistantRequest } from '../../lib/assistant/provider.ts'
import { createContextReader } from '../../lib/assistant/runs/context-reader.ts'
import { readSoFar, type SoFar, toSoFar } from '../../lib/assistant/so-far.ts'
import type { PartChange } from '../../lib/chat/answers/schema-parts.ts'
import { findMessage } from '../../lib/chat/messages/store.ts'
import { newId } from '../../lib/core/ids.ts'
import { createPuppet } from '../support/assistant.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { innerState, startService, times } from '../support/service.ts'

const TOOL = { name: 'refund', description: 'Pays back', schema: { type: 'object' } }
const NOTHING = toSoFar([])

describeOnEachDatabase('a step of an answer', (openUrl) => {
  /** A question that is answered, and a way to ask its provider for one more step. */
  async function answer(...pieces: AnswerPiece[]) {
    const puppet = createPuppet()
    const service = await startService(await openUrl(), { ports: { assistant: puppet.assistant } })
    const { db, assistants, log, metrics } = innerState(service)
    const ada = await service.signIn('ada')
    const { conversation_id } = await ada.conversations.create({
      title: 'Orders',
      ref: 'order-7',
      metadata: { shop: 'Ulm' },
    })
    const { message_id } = await ada.messages.postRoot(conversation_id, {
      content: 'Why?',
      role: 'assistant',
      metadata: { page: 3 },
    })
    const first = await puppet.asked()
    first.say(...pieces)
    first.end()
    await service.idle()
    const so_far = await readSoFar(db, message_id)

    async function askAgain(step: Partial<Step>, ...said: unknown[]) {
      let request: AssistantRequest | undefined
      const rows: (string | PartChange)[] = []
      const place = { step: step.step ?? 2, so_far }
      const sink = { next: () => 100 + rows.length, add: (change: PartChange) => void rows.push(change) }
      const parts = createAnswerParts(sink, newId, place)
      const row = (await findMessage(db, message_id))!
      const outcome = await ask(
        {
          ...{ log, metrics },
          openFile: async function* () {},
          readContext: createContextReader(db, assistants.fallback!, { row, run: {} }),
          saveFile: async () => {
            throw new Error('no files here')
          },
          assistant: {
            ...assistants.fallback!,
            answer_bytes: 64,
            async *write(asked) {
              request = asked
              yield* said as AnswerPiece[]
            },
          },
        },
        row,
        new AbortController(),
        { text: (text) => void rows.push(text), part: parts.add, file: parts.addFile },
        { step: 2, so_far: so_far.parts, tools: [], ...step },
      )
      return { request: request!, outcome, rows }
    }
    return { service, ada, conversation_id, first, so_far, askAgain }
  }

  it('gets what the answer has, where it is, and which tools there are; the first gets no parts', async () => {
    const { service, conversation_id, first, so_far, askAgain } = await answer(
      'Let me see.',
      { tool: { id: 'srv_1', name: 'search', input: { q: 'sky' } }, provider_data: { token: 'a' } },
      { tool: { id: 'srv_1', name: 'search', output: 'blue' } },
      { reasoning: 'Hm', provider_data: { signature: 1 } },
      { reasoning: ' yes', provider_data: { signature: 2 } },
    )
    const asked = { purpose: 'answer', metadata: { page: 3 } }
    const conversation = { id: conversation_id, title: 'Orders', ref: 'order-7', metadata: { shop: 'Ulm' } }
    expect(first.request).toMatchObject({ ...asked, conversation, step: 1, tools: [], so_far: [] })

    const { request } = await askAgain({ step: 3, tools: [TOOL] }, 'Done')
    expect(request).toMatchObject({ ...asked, conversation, step: 3, tools: [TOOL] })
    expect(request.turns.at(-1)).toMatchObject({ role: 'user', content: 'Why?' })
    expect(request.so_far).toEqual(so_far.parts)
    expect(request.so_far).toEqual([
      { id: 0, type: 'text', text: 'Let me see.' },
      expect.objectContaining({
        name: 'search',
        input: { q: 'sky' },
        output: 'blue',
        state: 'done',
        by_provider: true,
        provider_data: { token: 'a' },
        provider_id: 'srv_1',
      }),
      expect.objectContaining({ type: 'reasoning', text: 'Hm yes', provider_data: { signature: 2 } }),
    ])
    await service.close()
  })

  it('returns the calls that the provider asks for, in order, and at most sixty-four', async () => {
    const { service, askAgain } = await answer('So.')
    const { outcome, rows } = await askAgain(
      { tools: [TOOL] },
      { tool_call: { id: 'b', name: 'refund', input: '{"order":7}' }, provider_data: 1 },
      'I pay it back.',
      { tool_call: { name: 'refund', input: '{"order":' } },
      { usage: { total_tokens: 3 }, finish_reason: 'tool_calls' },
    )
    expect(rows).toEqual(['\n\nI pay it back.'])
    expect(outcome).toEqual({
      end: { status: 'complete', finish_reason: 'tool_calls', usage: { total_tokens: 3 } },
      metadata: undefined,
      calls: [
        { id: 'b', name: 'refund', input: { value: { order: 7 } }, provider_data: '[1]' },
        { name: 'refund', input: { broken: true } },
      ],
    })
    // Also without tools, and without any text.
    const { outcome: many } = await askAgain({}, ...times(70, (n) => ({ tool_call: { name: `n${n}`, input: {} } })))
    expect(many!.calls.map(({ name }) => name)).toEqual(times(64, (n) => `n${n}`))
    await service.close()
  })

  it('begins its text apart from text before it, once, and counts it with that', async () => {
    const { service, askAgain } = await answer('é'.repeat(20))
    expect((await askAgain({}, '', 'a', 'b')).rows).toEqual(['\n\na', 'b'])
    expect((await askAgain({}, '\ud83d', '\ude00')).rows).toEqual(['\n\n😀'])
    expect((await askAgain({}, '\n\na', '\n\nb')).rows).toEqual(['\n\na', '\n\nb'])
    expect((await askAgain({ so_far: [] }, 'a')).rows).toEqual(['a'])
    expect((await askAgain({}, 'x'.repeat(22))).outcome!.end).toMatchObject({ status: 'complete' })
    expect((await askAgain({}, 'x'.repeat(23))).outcome).toMatchObject({
      end: { failure: 'answer_too_long' },
      calls: [],
    })
    await service.close()
  })

  it('changes parts of earlier steps by their ids and keys, and not those that have ended', async () => {
    const { service, so_far, askAgain } = await answer(
      { tool: { id: 'open', name: 'search', input: 1 } },
      { tool: { id: 'ended', name: 'search', output: 1 } },
      { data: { name: 'chart', key: 'a', data: 1 } },
    )
    const [open, , chart] = so_far.parts
    // A step in progress: the end of the answer has closed the call.
    Object.assign(open!, { state: 'running' })
    const { rows } = await askAgain(
      {},
      { tool: { id: 'open', name: 'search', output: 2 } },
      { data: { name: 'chart', key: 'a', data: 2 } },
      { data: { name: 'chart', key: 'b', data: 3 } },
      { tool: { id: 'new', name: 'search' } },
    )
    expect(rows).toEqual([
      { id: open!.id, type: 'tool', state: 'done', output: 2 },
      { id: chart!.id, type: 'data', name: 'chart', key: 'a', data: 2 },
      { id: 102, type: 'data', name: 'chart', key: 'b', data: 3 },
      expect.objectContaining({ id: 103, type: 'tool', step: 2, state: 'running' }),
    ])
    const again = await askAgain({}, { tool: { id: 'ended', name: 'search', output: 2 } })
    expect(again.outcome!.end).toMatchObject({ failure: 'invalid_answer' })
    await service.close()
  })

  it('shares the limits of the answer with the steps before', async () => {
    const { service, askAgain } = await answer(
      { reasoning: 'x'.repeat(64 * 1024 - 10) },
      'So.',
      ...times(254, (n) => ({ data: { name: 'row', key: `${n}`, data: n } })),
    )
    const source = { source: { url: 'https://example.org/' } }
    expect((await askAgain({}, 'a', source, source)).outcome!.end).toMatchObject({ status: 'complete' })
    expect((await askAgain({}, source, source, source)).outcome!.end).toMatchObject({ failure: 'answer_too_long' })
    const thought = await askAgain({}, { reasoning: 'y'.repeat(10) }, { reasoning: 'z' }, 'a')
    expect(thought.rows).toEqual([expect.objectContaining({ text: 'y'.repeat(10) }), '\n\na'])
    await service.close()
  })
})

/** Rows of an answer as the database has them. */
const rowsOf = (...rows: [part: PartChange | string, kept?: unknown][]) =>
  rows.map(([part, kept]) => ({
    content: typeof part === 'string' ? part : '',
    part: typeof part === 'string' ? null : JSON.stringify(part),
    provider_data: kept === undefined ? null : JSON.stringify([kept]),
  }))

it.each<[string, SoFar['parts'], ReturnType<typeof rowsOf>]>([
  ['the text it continues', [{ id: 0, type: 'text', text: 'ab', provider_data: 2 }], rowsOf(['a', 1], ['b', 2])],
  ['the text before, of an empty one', [{ id: 0, type: 'text', text: 'a', provider_data: 1 }], rowsOf(['a'], ['', 1])],
  [
    'the first part, of an empty one before it',
    [{ id: 1, type: 'text', text: 'a', provider_data: 1 }],
    rowsOf(['', 1], ['a']),
  ],
  [
    'the part it changes',
    [
      { id: 0, type: 'reasoning', text: 'ab', provider_data: 1 },
      { id: 1, type: 'text', text: 'c' },
    ],
    rowsOf([{ id: 0, type: 'reasoning', text: 'a' }], ['c'], [{ id: 0, type: 'reasoning', delta: 'b' }, 1]),
  ],
  ['nothing, where the answer has nothing', [], rowsOf(['', 1])],
])('data that a provider keeps comes back with %s', (_, parts, rows) => {
  expect(toSoFar(rows).parts).toEqual(parts)
})

it('what an answer has used is what was counted when it was written', () => {
  const rows: { content: string; part: string; provider_data: string | null }[] = []
  const sink = {
    next: () => rows.length,
    add: (change: PartChange, provider_data: string | undefined) =>
      void rows.push({ content: '', part: JSON.stringify(change), provider_data: provider_data ?? null }),
  }
  const parts = createAnswerParts(sink, newId, { step: 1, so_far: NOTHING })
  parts.add({ reasoning: 'Hm', provider_data: '[1]' })
  parts.add({ tool: { id: 'a', name: 'b', input: 'é' }, provider_data: '[2]' })
  parts.add({ tool: { id: 'a', name: 'b', output: 'é' } })
  parts.add({ data: { name: 'c', data: 1 } })
  const { used, reasoning } = toSoFar(rows)
  const sizes = rows.map(({ part, provider_data }) => [Buffer.byteLength(part), provider_data?.length ?? 0] as const)
  const [[, kept], ...others] = sizes as [(typeof sizes)[0], ...typeof sizes]
  expect(used).toEqual({ parts: 2, rows: 3, bytes: kept + others.flat().reduce((sum, size) => sum + size, 0) })
  expect(reasoning).toEqual({ parts: 1, bytes: 2 })
})
