import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AnswerPiece } from '../../lib/assistant/provider.ts'
import type { PartChange } from '../../lib/chat/answers/schema-parts.ts'
import { partsOf } from '../../lib/client/index.ts'
import { foldParts } from '../../lib/core/parts.ts'
import { sql } from '../../lib/storage/sql.ts'
import { type Answer, ageLeases, createPuppet } from '../support/assistant.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { innerState, type Person, startService, startThread, type TestService } from '../support/service.ts'

/** A generator of numbers from 0 to 1 that repeats itself (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

const SEARCH = { id: 'call-1', name: 'web_search' }

describeOnEachDatabase('an answer made of parts', (openUrl) => {
  let url: string
  let service: TestService
  let other: TestService
  let asked: () => Promise<Answer>
  let world: Awaited<ReturnType<typeof startThread>>

  beforeEach(async () => {
    const puppet = createPuppet()
    asked = puppet.asked
    url = await openUrl()
    const config = { assistant: { drain_seconds: 0 } }
    const assistants = { quiet: { provider: puppet.assistant, reasoning: 'drop' as const } }
    service = await startService(url, { config, ports: { assistant: puppet.assistant, assistants } })
    other = await startService(url, { config })
    world = await startThread(service)
  })
  afterEach(async () => {
    await other.close()
    await service.close()
  })

  const read = (message_id: string) => world.ada.messages.get(message_id)

  async function ask() {
    const { message_id } = await world.ada.messages.postRoot(world.conversation_id, {
      content: 'Why?',
      role: 'assistant',
    })
    return { message_id, answer: await asked() }
  }

  async function askAndEnd(...pieces: AnswerPiece[]) {
    const { message_id, answer } = await ask()
    answer.say(...pieces)
    answer.end()
    await untilEnded(message_id)
    return message_id
  }

  const untilEnded = (message_id: string) =>
    vi.waitUntil(async () => (await read(message_id)).status !== 'streaming', { timeout: 30_000 })

  const rowsOf = async (person: Person, message_id: string) =>
    (await person.answers.listChunks(message_id)).map(({ content, part }) => part ?? content)

  /** The chunks of a message as a node replays them from the log. */
  async function replayed({ chat }: TestService, message_id: string): Promise<(string | PartChange)[]> {
    const { stream_position } = await world.ada.conversations.get(world.conversation_id)
    const actor = await chat.users.actor(world.ada.id)
    const rows: (string | PartChange)[] = []
    const options = { last_event_id: stream_position!.replace(/\.\d+$/, '.0') }
    for await (const { id, event } of chat.events.follow(actor, world.conversation_id, options)) {
      if (event.type === 'message.delta' && event.payload.message_id === message_id)
        rows[Number(event.payload.id.split(':')[1])] = event.payload.choices[0]!.delta.content
      if (event.type === 'message.part' && event.payload.message_id === message_id)
        rows[event.payload.idx] = event.payload.part
      if (id === stream_position) return rows
    }
    return rows
  }

  it('has what the provider yields beside text, in order; events, chunks and the message have the same', async () => {
    const message_id = await askAndEnd(
      { reasoning: 'The sky' },
      { reasoning: ' is blue.' },
      'Let me ',
      'look.',
      { tool: { ...SEARCH, input: { query: 'sky' } } },
      { tool: { ...SEARCH, output: { hits: 2 } }, provider_data: { secret: 1 } },
      { source: { url: 'https://example.org/sky', title: 'The sky', range: [0, 3] } },
      { data: { name: 'chart', key: 'a', data: [1] } },
      'It scatters.',
      { data: { name: 'chart', key: 'a', data: [1, 2] } },
      { usage: { total_tokens: 3 }, metadata: { mood: 'calm' } },
    )
    const message = await read(message_id)
    expect(message).toMatchObject({
      content: 'Let me look.It scatters.',
      metadata: { mood: 'calm' },
      status: 'complete',
    })
    expect(message.parts).toEqual([
      { id: expect.any(Number), type: 'reasoning', text: 'The sky is blue.' },
      { id: expect.any(Number), type: 'text', text: 'Let me look.' },
      {
        id: expect.any(Number),
        type: 'tool',
        call_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        name: 'web_search',
        step: 1,
        state: 'done',
        input: { query: 'sky' },
        output: { hits: 2 },
        by_provider: true,
      },
      { id: expect.any(Number), type: 'source', url: 'https://example.org/sky', title: 'The sky', range: [0, 3] },
      { id: expect.any(Number), type: 'data', name: 'chart', key: 'a', data: [1, 2] },
      { id: expect.any(Number), type: 'text', text: 'It scatters.' },
    ])
    const rows = await rowsOf(world.ada, message_id)
    expect(JSON.stringify(rows)).not.toContain('secret')
    expect(foldParts(rows)).toEqual(message.parts)
    for (const node of [service, other]) expect(foldParts(await replayed(node, message_id))).toEqual(message.parts)
    const { messages } = await world.ada.threads.tree(message_id)
    expect(messages[0]!.parts).toEqual(message.parts)
    expect(partsOf(message)).toBe(message.parts)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('has no reasoning where the assistant drops it, and is empty without anything else', async () => {
    for (const [pieces, expected] of [
      [['Blue.'], { content: 'Blue.', status: 'complete' }],
      [[], { content: '', status: 'failed' }],
    ] as const) {
      const question = { content: 'Why?', role: 'assistant' as const, assistant: 'quiet' }
      const { message_id } = await world.ada.messages.postRoot(world.conversation_id, question)
      const answer = await asked()
      answer.say({ reasoning: 'Hm' }, ...pieces, { reasoning: 'Hm\0', provider_data: { signature: 1 } })
      answer.end()
      await untilEnded(message_id)
      const message = await read(message_id)
      expect(message).toMatchObject(expected)
      expect(message).not.toHaveProperty('parts')
      expect((await rowsOf(world.ada, message_id)).join('')).toBe(expected.content)
    }
  })

  it('has no parts while all of it is text, and costs the statements of text', async () => {
    const { db } = innerState(service)
    const inserted = vi.fn()
    const write = db.write.bind(db)
    vi.spyOn(db, 'write').mockImplementation((work, options) =>
      write((tx) => {
        for (const name of ['run', 'get', 'all'] as const) {
          const call = tx[name].bind(tx) as (...given: unknown[]) => unknown
          Object.assign(tx, {
            [name]: (statement: { text: string }, ...rest: unknown[]) => {
              if (/message_chunks/.test(statement.text)) inserted(statement.text)
              return call(statement, ...rest)
            },
          })
        }
        return work(tx)
      }, options),
    )
    const message_id = await askAndEnd('It scatters.')
    expect(await read(message_id)).not.toHaveProperty('parts')
    expect(partsOf(await read(message_id))).toEqual([{ id: 0, type: 'text', text: 'It scatters.' }])
    const texts = inserted.mock.calls.map(([text]) => String(text).trim().split(/\s+/).slice(0, 3).join(' '))
    expect(texts.filter((text) => text === 'INSERT INTO message_chunks').length).toBe(1)
    expect(texts.filter((text) => text.startsWith('UPDATE messages SET')).length).toBe(1)
    expect(texts.filter((text) => text.startsWith('SELECT')).length).toBe(0)
  })

  it('loses the parts by an edit, and keeps its chunks; a deleted one has ids and types alone', async () => {
    const message_id = await askAndEnd('Look: ', { source: { url: 'https://example.org/secret' } })
    const rows = await rowsOf(world.ada, message_id)
    await world.ada.messages.edit(message_id, { content: 'Never mind.' })
    expect(await read(message_id)).not.toHaveProperty('parts')
    expect(await rowsOf(world.ada, message_id)).toEqual(rows)
    await world.ada.messages.remove(message_id, {})
    expect(await read(message_id)).not.toHaveProperty('parts')
    for (const node of [service, other])
      expect(await replayed(node, message_id)).toEqual(['', { id: 1, type: 'source' }])
  })

  it('has sizes instead of long values in lists, and all of them where it is read alone', async () => {
    const long = 'x'.repeat(30_000)
    const message_id = await askAndEnd('Here.', { reasoning: long }, { tool: { ...SEARCH, input: 'y', output: long } })
    const whole = (await read(message_id)).parts!
    expect(whole.map((part) => part.type)).toEqual(['text', 'reasoning', 'tool'])
    expect(whole[1]).toMatchObject({ text: long })
    const { messages } = await world.ada.threads.tree(message_id)
    const [text, reasoning, tool] = messages[0]!.parts!
    expect(text).toEqual(whole[0])
    expect(reasoning).toEqual({ id: 1, type: 'reasoning', cut: 30_002 })
    expect(tool).toMatchObject({ state: 'done', input: 'y', cut: 30_002 })
    expect(tool).not.toHaveProperty('output')
    expect(JSON.stringify(messages).length).toBeLessThan(3_000)
  })

  describe('with a call that its provider has left open', () => {
    const OPEN = { tool: { ...SEARCH, input: {} } }
    const state = async (message_id: string) => (await read(message_id)).parts!.find(({ type }) => type === 'tool')

    it('ends it as unknown: at the end, by a cancellation, and when its process died', async () => {
      const ended = await askAndEnd('a', OPEN)
      expect(await state(ended)).toMatchObject({ state: 'unknown' })

      const cancelled = await ask()
      cancelled.answer.say('b', OPEN)
      await vi.waitUntil(async () => (await rowsOf(world.ada, cancelled.message_id)).length === 2, { timeout: 30_000 })
      expect(await state(cancelled.message_id)).toMatchObject({ state: 'running' })
      expect((await world.ada.threads.tree(cancelled.message_id)).messages[0]!.parts).toHaveLength(2)
      await world.ada.answers.cancel(cancelled.message_id)
      expect(await state(cancelled.message_id)).toMatchObject({ state: 'unknown' })

      const lost = await ask()
      lost.answer.say('c', OPEN)
      await vi.waitUntil(async () => (await rowsOf(world.ada, lost.message_id)).length === 2, { timeout: 30_000 })
      await vi.waitUntil(
        async () => {
          await ageLeases(service.chat, 11)
          await innerState(other.chat).answers.renewLeases()
          return (await read(lost.message_id)).status === 'interrupted'
        },
        { timeout: 30_000 },
      )
      expect(await state(lost.message_id)).toMatchObject({ state: 'unknown' })
      for (const id of [ended, cancelled.message_id, lost.message_id])
        expect(foldParts(await replayed(other, id))).toEqual((await read(id)).parts)
      expect((await service.chat.ops.fsck()).findings).toEqual([])
    })
  })

  it.each<[string, string, AnswerPiece[]]>([
    ['an unknown key', 'invalid_answer', [{ delta: 'a', colour: 'red' } as never]],
    ['a tool without a name', 'invalid_answer', [{ tool: { id: 'a' } } as never]],
    ['another name for the same call', 'invalid_answer', [{ tool: SEARCH }, { tool: { ...SEARCH, name: 'other' } }]],
    [
      'a call that has ended',
      'invalid_answer',
      [{ tool: { ...SEARCH, output: 1 } }, { tool: { ...SEARCH, output: 2 } }],
    ],
    ['a source of no web page', 'invalid_answer', [{ source: { url: 'javascript:alert(1)' } }]],
    ['a source of nothing', 'invalid_answer', [{ source: { title: 'x' } }]],
    ['a range that ends before it begins', 'invalid_answer', [{ source: { url: 'https://a.example', range: [3, 2] } }]],
    ['a name in capitals', 'invalid_answer', [{ data: { name: 'Chart', data: 1 } }]],
    ['a number that is stored as another', 'invalid_answer', [{ data: { name: 'a', data: [2 ** 53] } }]],
    ['no number', 'invalid_answer', [{ data: { name: 'a', data: Number.NaN } }]],
    ['a function', 'invalid_answer', [{ data: { name: 'a', data: { f: () => 1 } } }]],
    ['too deep a value', 'invalid_answer', [{ data: { name: 'a', data: nested(40) } }]],
    ['a value that contains itself', 'invalid_answer', [{ data: { name: 'a', data: circular() } }]],
    ['much data of the provider', 'invalid_answer', [{ reasoning: 'a', provider_data: 'x'.repeat(17_000) }]],
    ['metadata that is too large', 'invalid_answer', [{ metadata: { a: 'x'.repeat(5_000) } }]],
    ['NUL in the reasoning', 'invalid_answer', [{ reasoning: 'a\0' }]],
    ['too long a row', 'answer_too_long', [{ tool: { ...SEARCH, output: 'x'.repeat(66_000) } }]],
    [
      'too many parts',
      'answer_too_long',
      Array.from({ length: 257 }, (_, n) => ({ source: { url: `https://example.org/${n}` } })),
    ],
    ['too many rows', 'answer_too_long', Array.from({ length: 1_001 }, (_, n) => ({ data: { name: 'a', data: n } }))],
    [
      'too many bytes',
      'answer_too_long',
      Array.from({ length: 20 }, (_, n) => ({ data: { name: 'a', data: `${n}${'x'.repeat(60_000)}` } })),
    ],
  ])('fails with %s', async (_, code, pieces) => {
    const message_id = await askAndEnd('before', ...pieces)
    expect(await read(message_id)).toMatchObject({ status: 'failed', failure: code, content: 'before' })
  })

  it('drops reasoning beyond 64 KiB, and splits no character between two rows', async () => {
    const message_id = await askAndEnd({ reasoning: '😀'.repeat(7_500) }, { reasoning: 'y'.repeat(70_000) }, 'Done.')
    const [reasoning] = (await read(message_id)).parts!
    expect(reasoning).toMatchObject({ type: 'reasoning', text: expect.stringMatching(/^(😀){7500}y+$/) })
    expect(Buffer.byteLength((reasoning as { text: string }).text)).toBeLessThanOrEqual(64 * 1024)
    expect(await read(message_id)).toMatchObject({ content: 'Done.', status: 'complete' })
  })

  it('is erased with its asker, and loses what its provider keeps with it', async () => {
    const message_id = await askAndEnd('a', { data: { name: 'a', data: 'private' }, provider_data: 'private' })
    const operator = await service.signIn('admin', ['admin'])
    await operator.users.erase(world.ada.id, { messages: 'erase' })
    await service.idle()
    const rows = await innerState(service).db.all(
      sql`SELECT m.parts, c.part, c.provider_data FROM messages m LEFT JOIN message_chunks c ON c.message_id = m.id
        WHERE m.id = ${message_id}`,
    )
    expect(JSON.stringify(rows)).not.toContain('private')
  })

  it('is the same from events, chunks and the message, for any history', async () => {
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      const random = createRandom(seed)
      const { message_id, answer } = await ask()
      const count = 3 + Math.floor(random() * 20)
      const checkpoints: unknown[] = []
      for (let n = 0; n < count; n++) {
        answer.say(randomPiece(random, n))
        if (random() < 0.3) checkpoints.push((await read(message_id)).parts)
      }
      answer.say('.')
      if (random() < 0.3) await world.ada.answers.cancel(message_id)
      else if (random() < 0.5) answer.fail(new Error('broken'))
      else answer.end()
      await untilEnded(message_id)
      const message = await read(message_id)
      const rows = await rowsOf(world.ada, message_id)
      const expected = rows.every((row) => typeof row === 'string') ? undefined : message.parts
      expect(message.parts, `seed ${seed}`).toEqual(expected)
      const folds = [rows, await replayed(service, message_id), await replayed(other, message_id)]
      for (const fold of folds) expect(foldParts(fold), `seed ${seed}`).toEqual(partsOf(message))
      expect(rows.filter((row) => typeof row === 'string').join('')).toBe(message.content)
    }
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })
})

function nested(depth: number): unknown {
  return depth === 0 ? 1 : [nested(depth - 1)]
}

function circular(): unknown {
  const value: { self?: unknown } = {}
  value.self = value
  return value
}

function randomPiece(random: () => number, n: number): AnswerPiece {
  const pick = Math.floor(random() * 7)
  switch (pick) {
    case 0:
      return { reasoning: `thought ${n} ` }
    case 1:
      return { tool: { id: `call-${n}`, name: 'search', input: { n } } }
    case 2:
      return { tool: { id: `call-${n}`, name: 'search', ...(random() < 0.5 ? { output: [n] } : { error: 'no' }) } }
    case 3:
      return { source: { filename: `${n}.pdf`, media_type: 'application/pdf' } }
    case 4:
      return { data: { name: 'chart', key: `k${n % 2}`, data: 'z'.repeat(Math.floor(random() * 5_000)) } }
    default:
      return `word ${n} `
  }
}
