import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import type { PartChange, ToolState } from '../../../lib/chat/answers/schema-parts.ts'
import type { Written } from '../../../lib/chat/answers/service-rows.ts'
import { createAgUiFrames } from '../../../lib/protocols/ag-ui/frames.ts'
import { createEventWriter, type Run, toEnd, toInterrupt, toRunStarted } from '../../../lib/protocols/ag-ui/rules.ts'
import { AgUiEvent } from '../../../lib/protocols/ag-ui/schema-events.ts'
import { createAnswerSteps, listSegmentEnds } from '../../../lib/protocols/rows/rules.ts'
import { createRandom } from '../../fault/random.ts'
import { randomAnswer } from '../random-rows.ts'

const ID = '01890000-0000-7000-8000-000000000000'
const CALL = '01890000-0000-7000-8000-000000000001'
const RUN: Run = { thread_id: 'trip', run_id: 'r1', is_old: false }
const urlOf = (id: string) => `/files/${id}`
const MESSAGE: Written = {
  id: ID,
  conversation_id: ID,
  root_id: ID,
  status: 'complete',
  finish_reason: 'stop',
  created_at: 0,
}

type Row = string | PartChange

/** The events of rows, without begin and end. */
function eventsOf(rows: readonly Row[]): AgUiEvent[] {
  const steps = createAnswerSteps()
  const writer = createEventWriter(ID, urlOf)
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
const begun = (input = '{"sum":1}') => [
  { type: 'TOOL_CALL_START', toolCallId: CALL, toolCallName: 'pay' },
  { type: 'TOOL_CALL_ARGS', toolCallId: CALL, delta: input },
  { type: 'TOOL_CALL_END', toolCallId: CALL },
]
const result = (state: ToolState, content: string) => ({
  type: 'TOOL_CALL_RESULT',
  messageId: `${ID}:0`,
  toolCallId: CALL,
  role: 'tool',
  content,
  metadata: { 'chat-server': { message_id: ID, state } },
})
const waited = [requested(0), tool(0, 'waiting', { approval })]
const text = (messageId: string, ...deltas: string[]) => [
  { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' },
  ...deltas.map((delta) => ({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta })),
]
const reasoning = (part: number, ...deltas: string[]) => {
  const messageId = `${ID}:${part}`
  return [
    { type: 'REASONING_START', messageId },
    { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' },
    ...deltas.map((delta) => ({ type: 'REASONING_MESSAGE_CONTENT', messageId, delta })),
  ]
}
const reasoned = (part: number) => [
  { type: 'REASONING_MESSAGE_END', messageId: `${ID}:${part}` },
  { type: 'REASONING_END', messageId: `${ID}:${part}` },
]
const said = (messageId = ID) => ({ type: 'TEXT_MESSAGE_END', messageId })
const custom = (type: string, name: string, value: unknown, more: object = {}) => ({
  type: 'CUSTOM',
  name,
  value,
  metadata: { 'chat-server': { type, ...more } },
})

describe('the events of rows', () => {
  it.each<[string, Row[], unknown[]]>([
    ['text, in one event a row', ['It ', '', 'is.'], text(ID, 'It ', 'is.')],
    [
      'texts, of which the first has the id of the answer',
      [{ id: 0, type: 'data', name: 'chart', data: null }, 'a', { id: 2, type: 'step', step: 2 }, 'b'],
      [
        custom('data', 'chart', null),
        ...text(ID, 'a'),
        said(),
        { type: 'STEP_STARTED', stepName: 'step 2' },
        ...text(`${ID}:3`, 'b'),
      ],
    ],
    [
      'reasoning, which ends where text begins',
      [{ id: 0, type: 'reasoning', delta: 'Hm' }, { id: 0, type: 'reasoning', delta: '.' }, 'So'],
      [...reasoning(0, 'Hm', '.'), ...reasoned(0), ...text(ID, 'So')],
    ],
    [
      'reasoning that goes on behind a text, in the same message',
      [{ id: 0, type: 'reasoning', text: 'Hm' }, 'So', { id: 0, type: 'reasoning', delta: '.' }],
      [...reasoning(0, 'Hm'), ...reasoned(0), ...text(ID, 'So'), said(), ...reasoning(0, '.')],
    ],
    ['empty reasoning', [{ id: 0, type: 'reasoning', text: '' }], []],
    [
      'a call',
      [requested(0), tool(0, 'running'), tool(0, 'done', { output: 'ok' })],
      [...begun(), result('done', 'ok')],
    ],
    [
      'a call that returns JSON',
      [requested(0), tool(0, 'running'), tool(0, 'done', { output: { n: [1] } })],
      [...begun(), result('done', '{"n":[1]}')],
    ],
    ['a call that returns nothing', [requested(0), tool(0, 'done')], [...begun(), result('done', 'null')]],
    [
      'a call of the provider, whose input is not known',
      [tool(0, 'running', { by_provider: true }), tool(0, 'done', { output: 1 })],
      [...begun('{}'), result('done', '1')],
    ],
    [
      'a call of the provider whose input comes later',
      [
        tool(0, 'running', { by_provider: true }),
        tool(0, 'running', { input: { sum: 1 } }),
        tool(0, 'done', { output: 1 }),
      ],
      [...begun(), result('done', '1')],
    ],
    [
      'a call that never runs',
      [tool(0, 'failed', { input: { sum: 1 }, error: { code: 'invalid_input', message: 'No.' } })],
      [...begun(), result('failed', 'No.')],
    ],
    ['a call that waits', waited, begun()],
    ['an approved call', [...waited, tool(0, 'approved'), tool(0, 'running')], begun()],
    ['a denied call', [...waited, tool(0, 'denied')], [...begun(), result('denied', 'The call was denied.')]],
    [
      'an expired call',
      [...waited, tool(0, 'expired')],
      [...begun(), result('expired', 'No decision was made in time.')],
    ],
    [
      'a call that is cancelled',
      [...waited, tool(0, 'cancelled')],
      [...begun(), result('cancelled', 'The call was cancelled.')],
    ],
    [
      'a call that may have happened',
      [requested(0), tool(0, 'running'), tool(0, 'unknown')],
      [...begun(), result('unknown', 'It is not known whether the call has happened.')],
    ],
    [
      'a source',
      ['a', { id: 1, type: 'source', url: 'https://example.org/', title: 'It', range: [0, 1] }],
      [
        ...text(ID, 'a'),
        said(),
        custom('source', 'source', { url: 'https://example.org/', title: 'It', range: [0, 1] }),
      ],
    ],
    [
      'a file',
      [{ id: 0, type: 'file', attachment_id: ID, name: 'a.png', media_type: 'image/png', size: 1 }],
      [
        custom('file', 'file', {
          attachment_id: ID,
          name: 'a.png',
          media_type: 'image/png',
          size: 1,
          url: `/files/${ID}`,
        }),
      ],
    ],
    [
      'data, which may be replaced',
      [
        { id: 0, type: 'data', name: 'chart', key: 'a', data: [1] },
        { id: 0, type: 'data', data: [2] },
      ],
      [custom('data', 'chart', [1], { key: 'a' }), custom('data', 'chart', [2], { key: 'a' })],
    ],
    [
      'steps, of which the first has none',
      ['a', { id: 1, type: 'step', step: 2 }, { id: 2, type: 'step', step: 3 }],
      [
        ...text(ID, 'a'),
        said(),
        { type: 'STEP_STARTED', stepName: 'step 2' },
        { type: 'STEP_FINISHED', stepName: 'step 2' },
        { type: 'STEP_STARTED', stepName: 'step 3' },
      ],
    ],
  ])('are %s', (_, rows, events) => {
    expect(eventsOf(rows)).toEqual(events)
  })

  const finished = (outcome: string | undefined, facts: object, more: object = {}) => ({
    type: 'RUN_FINISHED',
    threadId: 'trip',
    runId: 'r1',
    ...(outcome && { outcome: { type: outcome } }),
    ...more,
    metadata: { 'chat-server': facts },
  })

  it.each<[string, Partial<Written>, unknown, unknown]>([
    [
      'complete',
      { usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3, cached_tokens: 0, reasoning_tokens: 1 } },
      finished(
        'success',
        { status: 'complete', finish_reason: 'stop' },
        {
          usage: [{ inputTokens: 1, outputTokens: 2, totalTokens: 3, cachedInputTokens: 0, reasoningTokens: 1 }],
        },
      ),
      finished(
        undefined,
        { status: 'complete', finish_reason: 'stop' },
        {
          usage: [{ inputTokens: 1, outputTokens: 2, totalTokens: 3, cachedInputTokens: 0, reasoningTokens: 1 }],
        },
      ),
    ],
    [
      'of an unknown end',
      { finish_reason: 'unknown' },
      finished('success', { status: 'complete', finish_reason: 'unknown' }),
      finished(undefined, { status: 'complete', finish_reason: 'unknown' }),
    ],
    [
      'cancelled',
      { status: 'cancelled', finish_reason: 'cancelled' },
      finished('cancelled', { status: 'cancelled', finish_reason: 'cancelled' }),
      finished(undefined, { status: 'cancelled', finish_reason: 'cancelled' }),
    ],
    [
      'failed',
      { status: 'failed', finish_reason: 'failed', failure: 'timeout' },
      { type: 'RUN_ERROR', code: 'timeout', message: 'The assistant took too long.' },
      { type: 'RUN_ERROR', code: 'timeout', message: 'The assistant took too long.' },
    ],
    [
      'interrupted',
      { status: 'interrupted', finish_reason: 'interrupted' },
      { type: 'RUN_ERROR', code: 'interrupted', message: 'The answer was interrupted.' },
      { type: 'RUN_ERROR', code: 'interrupted', message: 'The answer was interrupted.' },
    ],
  ])('end a run whose answer is %s, for clients of 1.0 and of 0.x', (_, ended, event, old) => {
    expect(toEnd(RUN, { ...MESSAGE, ...ended })).toEqual(event)
    expect(toEnd({ ...RUN, is_old: true }, { ...MESSAGE, ...ended })).toEqual(old)
  })

  it('end a run whose answer waits by all calls that wait, for clients of 0.x, too', () => {
    const steps = createAnswerSteps()
    waited.map((row, idx) => steps.next({ idx, row }))
    const event = {
      type: 'RUN_FINISHED',
      threadId: 'trip',
      runId: 'r1',
      outcome: {
        type: 'interrupt',
        interrupts: [
          {
            id: CALL,
            reason: 'tool_call',
            message: 'Approve the call of “pay”?',
            toolCallId: CALL,
            responseSchema: { type: 'object', properties: { approved: { type: 'boolean' } }, required: ['approved'] },
            expiresAt: approval.expires_at,
            metadata: { 'chat-server': { by: 'asker', quorum: 1 } },
          },
        ],
      },
      metadata: { 'chat-server': { status: 'waiting' } },
    }
    for (const is_old of [false, true]) expect(toInterrupt({ ...RUN, is_old }, steps.waitingCalls())).toEqual(event)
  })

  it('begin with the ids of the answer, and close what is open before the end', async () => {
    const snapshot = { messages: [], has_earlier: true }
    const frames = createAgUiFrames(
      { ...MESSAGE, variant_of: CALL },
      { run: RUN, urlOf, takeBefore: () => snapshot, waiting: async () => snapshot },
    )
    const facts = { message_id: ID, root_id: ID, conversation_id: ID, variant_of: CALL }
    const all =
      frames.begin(MESSAGE) +
      frames.row({
        type: 'part',
        idx: 0,
        change: { id: 0, type: 'step', step: 2 },
        part: { id: 0, type: 'step', step: 2 },
        before: undefined,
      }) +
      frames.row({ type: 'text', idx: 1, part_id: 1, text: 'a\u2028', begins: true, is_first: true, from: 0 }) +
      (await frames.wait([], 1))
    expect(
      all
        .split('\n\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line.replace('data: ', ''))),
    ).toEqual([
      {
        type: 'RUN_STARTED',
        threadId: 'trip',
        runId: 'r1',
        protocolVersion: '1.0',
        metadata: { 'chat-server': facts },
      },
      { type: 'MESSAGES_SNAPSHOT', messages: [], metadata: { 'chat-server': { has_earlier: true } } },
      { type: 'STEP_STARTED', stepName: 'step 2' },
      ...text(ID, 'a\u2028'),
      said(),
      { type: 'STEP_FINISHED', stepName: 'step 2' },
      { type: 'MESSAGES_SNAPSHOT', messages: [], metadata: { 'chat-server': { has_earlier: true } } },
      expect.objectContaining({ outcome: { type: 'interrupt', interrupts: [] } }),
    ])
  })
})

describe('random answers', () => {
  /** The events of an answer whose rows come in batches that end before these numbers, each to another stream, which goes on there. */
  function inBatches(rows: ReturnType<typeof randomAnswer>['rows'], ends: readonly number[]): AgUiEvent[] {
    let steps = createAnswerSteps()
    let writer = createEventWriter(ID, urlOf)
    const events: AgUiEvent[] = []
    let at = 0
    for (const end of [...ends, rows.length]) {
      for (const row of rows.slice(at, end)) {
        const step = steps.next(row)
        if (step) events.push(...writer.row(step))
      }
      at = end
      const [before, written] = [steps.save(), writer.save()]
      steps = createAnswerSteps()
      writer = createEventWriter(ID, urlOf)
      steps.restore(before)
      writer.restore(written)
    }
    return [...events, ...writer.close()]
  }

  it('have events of the documented shapes, and the same ones wherever a reader comes and goes', () => {
    const random = createRandom(1)
    for (let n = 0; n < 10_000; n++) {
      const { rows, status } = randomAnswer(random)
      const all = inBatches(rows, [])
      const run = [toRunStarted(RUN, MESSAGE), ...all, toEnd(RUN, { ...MESSAGE, status })]
      if (n < 1_000) for (const event of run) expect(v.parse(AgUiEvent, event)).toEqual(event)
      const cut = Math.floor(random() * (rows.length + 1))
      expect(inBatches(rows, [cut])).toEqual(all)
      // Each segment is a run of its own: together they have the same messages, calls and results.
      expect(withoutSteps(segmentsOf(rows).flat())).toEqual(withoutSteps(all))
    }
  })

  /** The events of each segment, from its first row on, as a run that goes on behind a decision has them. */
  function segmentsOf(rows: ReturnType<typeof randomAnswer>['rows']): AgUiEvent[][] {
    const steps = createAnswerSteps()
    const ends = new Set(listSegmentEnds(rows))
    const segments: AgUiEvent[][] = [[]]
    let writer = createEventWriter(ID, urlOf)
    for (const row of rows) {
      const step = steps.next(row)
      if (step) segments.at(-1)!.push(...writer.row(step))
      if (!ends.has(row.idx)) continue
      segments.at(-1)!.push(...writer.close())
      segments.push([])
      writer = createEventWriter(ID, urlOf)
    }
    segments.at(-1)!.push(...writer.close())
    return segments
  }

  const withoutSteps = (events: readonly AgUiEvent[]) => events.filter(({ type }) => !type.startsWith('STEP_'))
})
