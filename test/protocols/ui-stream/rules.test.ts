import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import type { PartChange, ToolState } from '../../../lib/chat/answers/schema-parts.ts'
import type { Written } from '../../../lib/chat/answers/service-rows.ts'
import { createAnswerSteps } from '../../../lib/protocols/rows/rules.ts'
import { createUiFrames, createUiWriter, type UiOptions } from '../../../lib/protocols/ui-stream/rules.ts'
import { UiFrame } from '../../../lib/protocols/ui-stream/schema-frames.ts'

const ID = '01890000-0000-7000-8000-000000000000'
const CALL = '01890000-0000-7000-8000-000000000001'
const OPTIONS: UiOptions = { is_old: false, is_continued: false, urlOf: (id) => `/files/${id}` }
const MESSAGE: Written = {
  id: ID,
  conversation_id: ID,
  root_id: ID,
  status: 'complete',
  finish_reason: 'stop',
  created_at: 0,
}
const RUN = { dynamic: true, providerExecuted: true }

type Row = string | PartChange

/** The frames of rows, without begin and end. */
function framesOf(rows: readonly Row[], options: Partial<UiOptions> = {}): UiFrame[] {
  const steps = createAnswerSteps()
  const writer = createUiWriter(MESSAGE, { ...OPTIONS, ...options })
  writer.begin()
  return rows.flatMap((row, idx) => {
    const step = steps.next({ idx, row })
    return step ? writer.row(step) : []
  })
}

const tool = (id: number, state: ToolState, more: Partial<PartChange> = {}): PartChange => ({
  id,
  type: 'tool',
  call_id: CALL,
  name: 'pay',
  state,
  ...more,
})
const requested = (id: number) => tool(id, 'requested', { input: { sum: 1 }, step: 1 })
const approval = { by: 'asker', quorum: 1, expires_at: '2030-01-01T00:00:00.000000Z' } as const
const { expires_at } = approval
const BEGUN = [
  { type: 'tool-input-start', toolCallId: CALL, toolName: 'pay', ...RUN },
  { type: 'tool-input-available', toolCallId: CALL, toolName: 'pay', input: { sum: 1 }, ...RUN },
]
const data = (state: string) => ({ type: 'data-approval', id: CALL, data: { call_id: CALL, state, expires_at } })
const error = (errorText: string) => ({ type: 'tool-output-error', toolCallId: CALL, errorText, ...RUN })
const ASKED = { type: 'tool-approval-request', approvalId: CALL, toolCallId: CALL }
const waited = [requested(0), tool(0, 'waiting', { approval })]

describe('the frames of rows', () => {
  it.each<[string, Row[], unknown[]]>([
    [
      'text, in one frame a row',
      ['It ', '', 'is.'],
      [
        { type: 'text-start', id: '0' },
        { type: 'text-delta', id: '0', delta: 'It ' },
        { type: 'text-delta', id: '0', delta: 'is.' },
      ],
    ],
    [
      'reasoning, which ends where text begins',
      [{ id: 0, type: 'reasoning', delta: 'Hm' }, { id: 0, type: 'reasoning', delta: '.' }, 'So'],
      [
        { type: 'reasoning-start', id: '0' },
        { type: 'reasoning-delta', id: '0', delta: 'Hm' },
        { type: 'reasoning-delta', id: '0', delta: '.' },
        { type: 'reasoning-end', id: '0' },
        { type: 'text-start', id: '2' },
        { type: 'text-delta', id: '2', delta: 'So' },
      ],
    ],
    [
      'a call',
      [requested(0), tool(0, 'running'), tool(0, 'done', { output: 'ok' })],
      [...BEGUN, { type: 'tool-output-available', toolCallId: CALL, output: 'ok', ...RUN }],
    ],
    [
      'a call without a result',
      [requested(0), tool(0, 'running'), tool(0, 'done')],
      [...BEGUN, { type: 'tool-output-available', toolCallId: CALL, output: null, ...RUN }],
    ],
    [
      'a call of the provider, with its title',
      [tool(0, 'running', { by_provider: true, title: 'Search' }), tool(0, 'done', { output: 1 })],
      [
        { type: 'tool-input-start', toolCallId: CALL, toolName: 'pay', title: 'Search', ...RUN },
        { type: 'tool-input-available', toolCallId: CALL, toolName: 'pay', title: 'Search', input: {}, ...RUN },
        { type: 'tool-output-available', toolCallId: CALL, output: 1, ...RUN },
      ],
    ],
    [
      'a call of the provider whose input comes later',
      [
        tool(0, 'running', { by_provider: true }),
        tool(0, 'running', { input: { sum: 1 } }),
        tool(0, 'done', { output: 1 }),
      ],
      [...BEGUN, { type: 'tool-output-available', toolCallId: CALL, output: 1, ...RUN }],
    ],
    [
      'a call that never runs',
      [tool(0, 'failed', { input: { sum: 1 }, error: { code: 'invalid_input', message: 'No.' } })],
      [...BEGUN, error('No.')],
    ],
    ['a call that waits', waited, [...BEGUN, ASKED, data('waiting')]],
    [
      'an approved call',
      [...waited, tool(0, 'approved'), tool(0, 'running')],
      [...BEGUN, ASKED, data('waiting'), data('approved')],
    ],
    [
      'a denied call',
      [...waited, tool(0, 'denied')],
      [...BEGUN, ASKED, data('waiting'), data('denied'), { type: 'tool-output-denied', toolCallId: CALL }],
    ],
    [
      'an expired call',
      [...waited, tool(0, 'expired')],
      [...BEGUN, ASKED, data('waiting'), data('expired'), error('No decision was made in time.')],
    ],
    [
      'a call that is cancelled',
      [...waited, tool(0, 'cancelled')],
      [...BEGUN, ASKED, data('waiting'), data('cancelled'), error('The call was cancelled.')],
    ],
    [
      'a call that may have happened',
      [requested(0), tool(0, 'running'), tool(0, 'unknown')],
      [...BEGUN, error('It is not known whether the call has happened.')],
    ],
    [
      'a source',
      [{ id: 0, type: 'source', url: 'https://example.org/', title: 'It' }],
      [{ type: 'source-url', sourceId: '0', url: 'https://example.org/', title: 'It' }],
    ],
    [
      'a document',
      [{ id: 0, type: 'source', filename: 'a.pdf', media_type: 'application/pdf' }],
      [{ type: 'source-document', sourceId: '0', mediaType: 'application/pdf', title: 'a.pdf', filename: 'a.pdf' }],
    ],
    [
      'a file',
      [{ id: 0, type: 'file', attachment_id: ID, name: 'a.png', media_type: 'image/png', size: 1 }],
      [{ type: 'file', url: `/files/${ID}`, mediaType: 'image/png' }],
    ],
    [
      'data',
      [
        { id: 0, type: 'data', name: 'chart', key: 'a', data: [1] },
        { id: 0, type: 'data', data: [2] },
      ],
      [
        { type: 'data-chart', id: 'a', data: [1] },
        { type: 'data-chart', id: 'a', data: [2] },
      ],
    ],
    [
      'a step',
      ['a', { id: 1, type: 'step', step: 2 }],
      [
        { type: 'text-start', id: '0' },
        { type: 'text-delta', id: '0', delta: 'a' },
        { type: 'text-end', id: '0' },
        { type: 'finish-step' },
        { type: 'start-step' },
      ],
    ],
  ])('are %s', (_, rows, frames) => {
    expect(framesOf(rows)).toEqual(frames)
  })

  it('has no approvals for clients of version 5, but data', () => {
    expect(framesOf([...waited, tool(0, 'denied')], { is_old: true })).toEqual([
      ...BEGUN,
      data('waiting'),
      data('denied'),
      error('The call was denied.'),
    ])
  })

  it.each<[string, Partial<Written>, unknown[]]>([
    [
      'complete',
      { usage: { total_tokens: 3 } },
      [
        { type: 'finish-step' },
        {
          type: 'finish',
          finishReason: 'stop',
          messageMetadata: { status: 'complete', finish_reason: 'stop', usage: { total_tokens: 3 } },
        },
      ],
    ],
    [
      'cut',
      { finish_reason: 'length' },
      [
        { type: 'finish-step' },
        { type: 'finish', finishReason: 'length', messageMetadata: { status: 'complete', finish_reason: 'length' } },
      ],
    ],
    [
      'filtered',
      { finish_reason: 'content_filter' },
      [
        { type: 'finish-step' },
        {
          type: 'finish',
          finishReason: 'content-filter',
          messageMetadata: { status: 'complete', finish_reason: 'content_filter' },
        },
      ],
    ],
    [
      'of an unknown end',
      { finish_reason: 'unknown' },
      [
        { type: 'finish-step' },
        { type: 'finish', finishReason: 'other', messageMetadata: { status: 'complete', finish_reason: 'unknown' } },
      ],
    ],
    ['cancelled', { status: 'cancelled', finish_reason: 'cancelled' }, [{ type: 'abort' }]],
    [
      'failed',
      { status: 'failed', finish_reason: 'failed', failure: 'timeout' },
      [{ type: 'error', errorText: expect.stringMatching(/\.$/) }],
    ],
    [
      'interrupted',
      { status: 'interrupted', finish_reason: 'interrupted' },
      [{ type: 'error', errorText: 'The answer was interrupted.' }],
    ],
  ])('ends an answer that is %s', (_, ended, frames) => {
    expect(createUiWriter(MESSAGE, OPTIONS).end({ ...MESSAGE, ...ended })).toEqual(frames)
  })

  it('begins with the ids of the answer, and closes what is open before the end', () => {
    const text = createUiFrames({ ...MESSAGE, variant_of: CALL }, OPTIONS)
    const metadata = { message_id: ID, root_id: ID, conversation_id: ID, variant_of: CALL }
    const all =
      text.begin(MESSAGE) +
      text.row({ type: 'text', idx: 0, part_id: 0, text: 'a', begins: true, is_first: true, from: 0 }) +
      text.end(MESSAGE)
    expect(
      all
        .split('\n\n')
        .slice(0, -1)
        .map((line) => line.replace('data: ', '')),
    ).toEqual([
      JSON.stringify({ type: 'start', messageId: ID, messageMetadata: metadata }),
      '{"type":"start-step"}',
      '{"type":"text-start","id":"0"}',
      '{"type":"text-delta","id":"0","delta":"a"}',
      '{"type":"text-end","id":"0"}',
      '{"type":"finish-step"}',
      '{"type":"finish","finishReason":"stop","messageMetadata":{"status":"complete","finish_reason":"stop"}}',
      '[DONE]',
    ])
  })

  it('asks again where nothing was decided', () => {
    const writer = createUiWriter(MESSAGE, { ...OPTIONS, is_continued: true })
    expect(writer.begin()).toMatchObject([{ type: 'start' }])
    const steps = createAnswerSteps()
    waited.map((row, idx) => steps.next({ idx, row }))
    expect(writer.wait(steps.waitingCalls())).toEqual([
      ASKED,
      data('waiting'),
      { type: 'finish', finishReason: 'tool-calls', messageMetadata: { status: 'waiting' } },
    ])
  })
})

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

const AFTER: Partial<Record<ToolState, ToolState[]>> = {
  requested: ['waiting', 'failed', 'running', 'denied', 'cancelled'],
  waiting: ['approved', 'denied', 'expired', 'cancelled'],
  approved: ['running', 'failed', 'cancelled'],
  running: ['running', 'done', 'failed', 'unknown'],
}

/** Rows that the service could have written. */
function randomRows(random: () => number): Row[] {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  const rows: Row[] = []
  const calls: { id: number; call_id: string; state: ToolState }[] = []
  const reasonings: number[] = []
  const count = Math.floor(random() * 12)
  while (rows.length < count) {
    const id = rows.length
    const kind = pick(['text', 'text', 'empty', 'reasoning', 'again', 'call', 'move', 'move', 'source', 'data', 'step'])
    if (kind === 'text') rows.push(pick(['a', 'b ', '\u2028', '"']))
    if (kind === 'empty') rows.push('')
    if (kind === 'reasoning') reasonings.push(rows.push({ id, type: 'reasoning', delta: 'r' }) - 1)
    if (kind === 'again' && reasonings.length > 0) rows.push({ id: pick(reasonings), type: 'reasoning', delta: 's' })
    if (kind === 'call') {
      const call = { id, call_id: `${ID.slice(0, -3)}${String(id).padStart(3, '0')}`, state: 'requested' as ToolState }
      calls.push(call)
      rows.push({ ...call, type: 'tool', name: 'pay', step: 1 })
    }
    const open = calls.filter(({ state }) => AFTER[state])
    if (kind === 'move' && open.length > 0) {
      const call = pick(open)
      call.state = pick(AFTER[call.state]!)
      rows.push({ id: call.id, type: 'tool', state: call.state, ...(call.state === 'done' && { output: id }) })
    }
    if (kind === 'source') rows.push({ id, type: 'source', url: 'https://example.org/' })
    if (kind === 'data') rows.push({ id, type: 'data', name: 'chart', data: id })
    if (kind === 'step') rows.push({ id, type: 'step', step: 2 })
  }
  return rows
}

/** Fails as the clients do. */
function read(frames: readonly UiFrame[]): { text: string; calls: Map<string, string> } {
  const open = new Set<string>()
  const calls = new Map<string, string>()
  let text = ''
  for (const frame of frames) {
    v.parse(UiFrame, frame)
    const {
      type,
      id = '',
      toolCallId = '',
      delta = '',
    } = frame as { type: string; id?: string; toolCallId?: string; delta?: string }
    const key = `${type.split('-')[0]} ${id}`
    if (/^(text|reasoning)-start$/.test(type)) {
      expect(open.has(key)).toBe(false)
      open.add(key)
    }
    if (/^(text|reasoning)-(delta|end)$/.test(type)) expect(open.has(key)).toBe(true)
    if (/^(text|reasoning)-end$/.test(type)) open.delete(key)
    if (type === 'text-delta') text += delta
    if (type === 'finish-step' || type === 'finish' || type === 'abort') expect(open.size).toBe(0)
    if (type.startsWith('tool-') && type !== 'tool-input-start') expect(calls.has(toolCallId)).toBe(true)
    if (type.startsWith('tool-')) calls.set(toolCallId, type)
  }
  expect(open.size).toBe(0)
  return { text, calls }
}

it('has the same frames however often its reader comes back, and none that a client refuses', () => {
  const random = createRandom(7)
  for (let n = 0; n < 10_000; n++) {
    const rows = randomRows(random)
    const frames = framesOf(rows)
    const whole = [...frames, ...endOf(rows)]
    expect(read(whole).text).toBe(rows.filter((row) => typeof row === 'string').join(''))
    // A reader of the rows so far, and one that gets the others live: the frames of a row depend on those before it alone.
    const cut = Math.floor(random() * (rows.length + 1))
    expect(framesOf(rows.slice(0, cut))).toEqual(frames.slice(0, framesOf(rows.slice(0, cut)).length))
    for (let at = 0; at <= rows.length; at++) expect(continued(rows, at)).toEqual(whole)
  }
})

/** The frames of the end of an answer with these rows. */
function endOf(rows: readonly Row[]): UiFrame[] {
  const steps = createAnswerSteps()
  const writer = createUiWriter(MESSAGE, OPTIONS)
  rows.forEach((row, idx) => {
    const step = steps.next({ idx, row })
    if (step) writer.row(step)
  })
  return writer.end(MESSAGE)
}

/** As a reader gets them that goes on where another one is. */
function continued(rows: readonly Row[], at: number): UiFrame[] {
  const create = () => ({ steps: createAnswerSteps(), writer: createUiWriter(MESSAGE, OPTIONS) })
  const take = ({ steps, writer }: ReturnType<typeof create>, batch: readonly Row[], from: number) =>
    batch.flatMap((row, n) => {
      const step = steps.next({ idx: from + n, row })
      return step ? writer.row(step) : []
    })
  const [first, second] = [create(), create()]
  const frames = take(first, rows.slice(0, at), 0)
  second.steps.restore(first.steps.save())
  second.writer.restore(first.writer.save())
  const rest = take(second, rows.slice(at), at)
  // What the first one does then is nothing to the second.
  take(first, rows.slice(at), at)
  return [...frames, ...rest, ...second.writer.end(MESSAGE)]
}
