import { beforeAll, expect, it, vi } from 'vitest'
import { readContext } from '../../lib/assistant/context.ts'
import type { AnswerPiece, Turn } from '../../lib/assistant/provider.ts'
import { bytesOf, toTurns } from '../../lib/chat/answers/rules-context.ts'
import { findMessage, type MessageRow } from '../../lib/chat/messages/store.ts'
import { createRandom } from '../fault/random.ts'
import { createPuppet } from '../support/assistant.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { setUpService } from '../support/describe-service.ts'
import { innerState, type Person, startService, times } from '../support/service.ts'

const LOOK = { id: 'srv_1', name: 'look' }
const CALLED: AnswerPiece[] = [
  'I look.',
  { tool: { ...LOOK, input: { q: 'sky' } }, provider_data: { token: 1 } },
  { tool: { ...LOOK, output: 'x'.repeat(5000) } },
  'It is blue.',
]

describeOnEachDatabase('the calls of earlier answers', (openUrl) => {
  const puppets = { path: createPuppet(), thread: createPuppet(), short: createPuppet() }
  const service = setUpService(async () =>
    startService(await openUrl(), {
      ports: {
        assistants: {
          path: { provider: puppets.path.assistant, context: 'path', names: 'never' },
          thread: { provider: puppets.thread.assistant, context: 'thread', names: 'never' },
          short: { provider: puppets.short.assistant, context: 'thread', names: 'never', context_bytes: 3000 },
        },
      },
    }),
  )
  let ada: Person
  let conversation_id: string
  beforeAll(async () => {
    ada = await service.signIn('ada')
    conversation_id = (await ada.conversations.create()).conversation_id
  })

  async function answer(assistant: keyof typeof puppets, parent: string | undefined, ...pieces: AnswerPiece[]) {
    const question = { content: 'Why?', role: 'assistant' as const, assistant }
    const { message_id } = parent
      ? await ada.messages.reply(parent, question)
      : await ada.messages.postRoot(conversation_id, question)
    const asked = await puppets[assistant].asked()
    asked.say(...pieces)
    asked.end()
    await service.idle()
    return { message_id, turns: asked.request.turns }
  }

  const callsIn = (turns: readonly Turn[]) =>
    turns.flatMap(({ parts = [] }) => parts.filter((part) => part.type === 'tool'))

  it.each(['path', 'thread'] as const)('are in the %s with their results, of which long ones are cut', async (key) => {
    const { message_id } = await answer(key, undefined, ...CALLED)
    const { turns } = await answer(key, message_id, 'Yes')
    expect(turns).toEqual([
      { role: 'user', content: 'Why?', user_id: ada.id },
      {
        role: 'assistant',
        content: 'I look.It is blue.',
        parts: [
          { id: 0, type: 'text', text: 'I look.' },
          {
            ...{ id: 1, type: 'tool', call_id: expect.any(String), name: 'look', step: 1, by_provider: true },
            ...{ state: 'done', input: { q: 'sky' }, provider_data: { token: 1 }, provider_id: 'srv_1', cut: 5002 },
            output: expect.stringMatching(/^"x{2047}\n\[Cut here: these are the first 2048 of 5002 bytes\.\]$/),
          },
          { id: 3, type: 'text', text: 'It is blue.' },
        ],
      },
      { role: 'user', content: 'Why?', user_id: ada.id },
    ])
  })

  it('that have no result have a sentence', async () => {
    const failed = { id: 'a', name: 'look', error: 'No such page' }
    const { message_id } = await answer('path', undefined, { tool: failed }, { tool: { ...LOOK } }, 'So.')
    const [, { parts = [] } = {}] = (await answer('path', message_id, 'Yes')).turns
    expect(parts).toMatchObject([
      { state: 'failed', error: { code: 'tool_error', message: 'No such page' } },
      { state: 'unknown', error: { code: 'unknown', message: expect.stringMatching(/may have had its effect/) } },
      { type: 'text' },
    ])
  })

  it('are not there of deleted and edited answers, nor of variants that were left', async () => {
    const deleted = await answer('path', undefined, ...CALLED)
    const edited = await answer('path', deleted.message_id, ...CALLED)
    await ada.messages.remove(deleted.message_id)
    await ada.messages.edit(edited.message_id, { content: 'Blue.' })
    const { turns } = await answer('path', edited.message_id, 'Yes')
    expect(callsIn(turns)).toEqual([])
    expect(turns.map(({ content }) => content)).toEqual(['Why?', 'Blue.', 'Why?'])

    const { message_id: root } = await ada.messages.postRoot(conversation_id, { content: 'Start' })
    const left = await answer('thread', root, ...CALLED)
    const again = { content: 'Why?', role: 'assistant' as const, assistant: 'thread', variant_of: left.message_id }
    const { message_id } = await ada.messages.reply(root, again)
    const asked = await puppets.thread.asked()
    asked.say('Plain')
    asked.end()
    await service.idle()
    expect(callsIn(asked.request.turns)).toEqual([])
    expect(callsIn((await answer('thread', message_id, 'Yes')).turns)).toEqual([])
    expect(callsIn((await answer('thread', left.message_id, 'Yes')).turns)).toHaveLength(1)
  })

  it('count in the bytes of the context, and leave it with their answer', async () => {
    const call = (n: number) => ({ tool: { id: `${n}`, name: 'look', output: 'y'.repeat(900) } })
    let parent: string | undefined
    for (const n of times(4, (n) => n))
      parent = (await answer('short', parent, call(n), { data: { name: 'chart', data: 'z'.repeat(50) } })).message_id
    const { turns } = await answer('short', parent, 'Yes')
    expect(callsIn(turns)).toHaveLength(2)
    expect(turns.reduce((sum, turn) => sum + bytesOf(turn), 0)).toBeLessThanOrEqual(3000)
    expect(turns.at(-1)!.content).toBe('Why?')
  })

  it('may have values that readers do not get', async () => {
    const { message_id } = await answer('path', undefined, { tool: { ...LOOK, output: 1 } }, 'So.')
    const next = await answer('path', message_id, 'Yes')
    const { db, assistants } = innerState(service)
    const call_id = callsIn(next.turns).map((part) => ('call_id' in part ? part.call_id : ''))[0]!
    const hiddenOf = vi.fn(async () => new Map([[call_id, { input: { secret: 1 }, output: 2 }]]))
    const row = (await findMessage(db, next.message_id))!
    const { turns } = await readContext(db, assistants.find('path')!, row, hiddenOf)
    expect(callsIn(turns)).toMatchObject([{ input: { secret: 1 }, output: 2 }])
    expect(hiddenOf.mock.calls.map((given: unknown[]) => given[1])).toEqual([[message_id]])
  })

  it('are read of as many answers as fit, and by no statement where all is text', async () => {
    const { db, assistants } = innerState(service)
    let parent: string | undefined
    for (const n of times(20, (n) => n)) parent = (await answer('path', parent, `a${n}`)).message_id
    const row = (await findMessage(db, parent!))!
    const path = assistants.find('path')!
    async function readsOf(message: MessageRow) {
      const all = vi.spyOn(db, 'all')
      await readContext(db, path, message, async () => new Map())
      const texts = all.mock.calls.map(([statement]) => JSON.stringify(statement))
      all.mockRestore()
      return texts.filter((statement) => statement.includes('provider_data')).length
    }
    expect(await readsOf(row)).toBe(0)

    const read = vi.fn(async () => new Map<string, never>())
    let last: string | undefined
    for (const n of times(20, (n) => n))
      last = (await answer('path', last, `a${n}`, { data: { name: 'n', data: n } })).message_id
    const end = (await findMessage(db, last!))!
    expect(await readsOf(end)).toBe(3)
    await readContext(db, { ...path, context_bytes: 200 }, end, read)
    expect(read).toHaveBeenCalledTimes(1)
  })

  it('comes with what a provider keeps with texts, which readers do not see as parts', async () => {
    const { message_id } = await answer('path', undefined, 'Blue', { delta: '.', provider_data: { response: 7 } })
    const message = await ada.messages.get(message_id)
    expect(message).toMatchObject({ content: 'Blue.', status: 'complete' })
    expect(message).not.toHaveProperty('parts')
    expect((await ada.threads.tree(message_id)).messages[0]).not.toHaveProperty('parts')
    const { turns } = await answer('path', message_id, 'Yes')
    expect(turns[1]).toEqual({
      role: 'assistant',
      content: 'Blue.',
      parts: [{ id: 0, type: 'text', text: 'Blue.', provider_data: { response: 7 } }],
    })
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })
})

it('turns are the newest that fit, whole, and always the question', () => {
  const random = createRandom(11)
  const someText = () => 'é'.repeat(Math.floor(random() * 20))
  for (let round = 0; round < 300; round++) {
    const path = times(1 + Math.floor(random() * 8), (n) => ({
      ...{ role: 'assistant', posted_by: 'ada', prompt: `p${n}`, deleted_at: random() < 0.1 ? 1 : null },
      content: someText(),
      ...(random() < 0.5 && {
        given_parts: [
          ...(random() < 0.3 ? [{ id: 0, type: 'reasoning' as const, text: someText() }] : []),
          {
            id: 1,
            type: 'tool' as const,
            call_id: `c${n}`,
            name: 'look',
            step: 1,
            state: 'done' as const,
            output: someText(),
          },
        ],
      }),
    }))
    path.push({ ...{ role: 'assistant', posted_by: 'ada', prompt: 'last', deleted_at: null }, content: '' })
    const bytes = Math.floor(random() * 400)
    const all = toTurns(path, { bytes: Number.MAX_SAFE_INTEGER })
    const turns = toTurns(path, { bytes })
    expect(turns.at(-1)!.content).toBe('last')
    expect(turns).toEqual(all.slice(-turns.length))
    const size = turns.reduce((sum, turn) => sum + bytesOf(turn), 0)
    expect(turns.length === 1 || size <= bytes).toBe(true)
    const next = all.at(-turns.length - 1)
    if (next) expect(size + bytesOf(next)).toBeGreaterThan(bytes)
  }
})
