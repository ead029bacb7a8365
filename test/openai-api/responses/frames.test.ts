import { describe, expect, it } from 'vitest'
import type { PartChange } from '../../../lib/chat/answers/schema-parts.ts'
import type { Written } from '../../../lib/chat/answers/service-rows.ts'
import { createResponseFrames } from '../../../lib/openai-api/responses/frames.ts'
import { createItems } from '../../../lib/openai-api/responses/rules-items.ts'
import type { OutputItem } from '../../../lib/openai-api/responses/schema.ts'
import type { ResponseEvent } from '../../../lib/openai-api/responses/schema-events.ts'
import { createAnswerSteps, listSegmentEnds } from '../../../lib/protocols/rows/rules.ts'
import { createRandom } from '../../fault/random.ts'
import { idOf, type RandomAnswer, randomAnswer } from '../../protocols/random-rows.ts'

const MESSAGE: Written = {
  id: idOf(0),
  conversation_id: idOf(1),
  root_id: idOf(0),
  status: 'streaming',
  created_at: 1_000_000_000,
}

/** The events of one segment, from a number on. @param cut the row at which another stream goes on */
function eventsOf({ rows, status }: RandomAnswer, segment = 1, starting_after?: number, cut = -1): ResponseEvent[] {
  const ends = listSegmentEnds(rows)
  const after = ends[segment - 2] ?? -1
  const end = ends[segment - 1]
  const create = () =>
    createResponseFrames(MESSAGE, {
      answered: { segment, conversation: undefined },
      starting_after,
      toFileUrl: (id) => `https://chat.example/api/attachments/${id}`,
    })
  let frames = create()
  const steps = createAnswerSteps()
  let text = frames.begin(MESSAGE)
  for (const row of rows) {
    if (end !== undefined && row.idx > end) break
    if (row.idx === cut) {
      const saved = frames.save!()
      const kept = JSON.stringify(saved)
      frames = create()
      frames.restore!(saved)
      frames.end(MESSAGE)
      expect(JSON.stringify(saved)).toBe(kept)
      frames = create()
      frames.restore!(saved)
    }
    const step = steps.next(row)
    if (step && row.idx > after) text += frames.row(step)
  }
  text += end === undefined ? frames.end({ ...MESSAGE, status }) : frames.wait(steps.waitingCalls(), end)
  return text.split('\n\n').flatMap((frame) => {
    const [type, data] = frame.split('\n')
    if (data === undefined) return []
    const event = JSON.parse(data.slice('data: '.length)) as ResponseEvent
    expect(type).toBe(`event: ${event.type}`)
    return [event]
  })
}

const segmentsOf = ({ rows }: RandomAnswer) => {
  const ends = listSegmentEnds(rows)
  return ends.at(-1) === rows.length - 1 ? ends.length : ends.length + 1
}

const textOf = (events: ResponseEvent[]) =>
  events
    .flatMap((event) => ('delta' in event && event.type === 'response.output_text.delta' ? event.delta : []))
    .join('')

describe('the events of a response', () => {
  const random = createRandom(7)
  const answers = Array.from({ length: 10_000 }, () => randomAnswer(random))

  it('have the text of the answer, over all its segments, and numbers without a gap', () => {
    for (const answer of answers) {
      let text = ''
      for (let segment = 1; segment <= segmentsOf(answer); segment++) {
        const events = eventsOf(answer, segment)
        expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, n) => n))
        expect(events.slice(0, 2).map(({ type }) => type)).toEqual(['response.created', 'response.in_progress'])
        text += textOf(events)
      }
      expect(text).toBe(answer.rows.map(({ row }) => (typeof row === 'string' ? row : '')).join(''))
    }
  })

  it('are the same from each number on', () => {
    for (const answer of answers.slice(0, 300)) {
      const events = eventsOf(answer)
      for (let after = -1; after < events.length; after++)
        expect(eventsOf(answer, 1, after)).toEqual(events.slice(after + 1))
    }
  })

  it('are the same where another stream goes on', () => {
    for (const answer of answers.slice(0, 300)) {
      const events = eventsOf(answer)
      for (let cut = 0; cut < answer.rows.length; cut++) expect(eventsOf(answer, 1, undefined, cut)).toEqual(events)
    }
  })

  it('begin and end each item once, and the last one has all items as they ended', () => {
    for (const answer of answers.slice(0, 2_000))
      for (let segment = 1; segment <= segmentsOf(answer); segment++) {
        const events = eventsOf(answer, segment)
        const items = (type: string) => events.flatMap((event) => ('item' in event && event.type === type ? event : []))
        const added = items('response.output_item.added')
        const done = items('response.output_item.done')
        expect(added.map(({ output_index }) => output_index)).toEqual(added.map((_, n) => n))
        expect(new Set(added.map(({ item }) => item.id)).size).toBe(added.length)
        const last = events.at(-1)!
        const output = 'response' in last ? last.response.output : []
        expect(done.toSorted((one, other) => one.output_index - other.output_index).map(({ item }) => item)).toEqual(
          output,
        )
        expect(output.filter((item) => 'status' in item && item.status === 'in_progress')).toEqual([])
      }
  })

  const rowsOf = (...rows: RandomAnswer['rows'][number]['row'][]): RandomAnswer => ({
    rows: rows.map((row, idx) => ({ idx, row, at: idx })),
    status: 'complete',
  })
  const outputOf = (answer: RandomAnswer, segment = 1) => {
    const last = eventsOf(answer, segment).at(-1)!
    return 'response' in last ? last.response : undefined
  }
  const call = { id: 0, type: 'tool' as const, call_id: idOf(9), name: 'refund', step: 1 }
  const approval = { by: 'asker' as const, quorum: 1, expires_at: '2026-01-01T00:00:00.000Z' }

  it('have citations at the text before, which goes on, and else at the next one', () => {
    const source = { id: 1, type: 'source' as const, url: 'https://example.org/', title: 'Example' }
    const cited = outputOf(rowsOf('It rains', { ...source, range: [3, 8] }, ' today.'))
    expect(cited?.output).toMatchObject([
      {
        id: `msg_${idOf(0).replaceAll('-', '')}`,
        content: [
          {
            text: 'It rains today.',
            annotations: [{ type: 'url_citation', url: 'https://example.org/', start_index: 3, end_index: 8 }],
          },
        ],
      },
    ])
    const before = outputOf(rowsOf({ ...source, id: 0 }, 'It rains.'))
    expect(before?.output).toMatchObject([{ content: [{ text: 'It rains.', annotations: [{ title: 'Example' }] }] }])
    const alone = outputOf(rowsOf({ ...source, id: 0 }))
    expect(alone?.output).toMatchObject([{ content: [{ text: '', annotations: [{ title: 'Example' }] }] }])
  })

  it('end a segment at a call that waits, with a request of approval; the next has the call', () => {
    const answer = rowsOf(
      { ...call, state: 'requested', input: { order: 'A' } },
      { id: 0, type: 'tool', state: 'waiting', approval },
      { id: 0, type: 'tool', state: 'approved' },
      { id: 0, type: 'tool', state: 'running' },
      { id: 0, type: 'tool', state: 'done', output: { ok: true } },
      'Done.',
    )
    const hex = idOf(9).replaceAll('-', '')
    expect(outputOf(answer)).toMatchObject({
      status: 'completed',
      usage: null,
      output: [
        {
          id: `mcpr_${hex}`,
          type: 'mcp_approval_request',
          name: 'refund',
          arguments: '{"order":"A"}',
          server_label: 'chat',
        },
      ],
    })
    expect(outputOf(answer, 2)).toMatchObject({
      id: `resp_${idOf(0).replaceAll('-', '')}_2`,
      previous_response_id: `resp_${idOf(0).replaceAll('-', '')}`,
      output: [
        {
          id: `mcp_${hex}`,
          type: 'mcp_call',
          approval_request_id: `mcpr_${hex}`,
          output: '{"ok":true}',
          status: 'completed',
        },
        { type: 'message' },
      ],
    })
  })

  it('begin a call of the provider with its input, which may come after its first row', () => {
    const answer = rowsOf(
      { ...call, input: undefined, state: 'running', by_provider: true },
      { id: 0, type: 'tool', state: 'running', input: { sum: 1 } },
      { id: 0, type: 'tool', state: 'done', output: 1 },
    )
    expect(eventsOf(answer).filter(({ type }) => type === 'response.output_item.added')).toHaveLength(1)
    expect(outputOf(answer)?.output).toMatchObject([{ arguments: '{"sum":1}', output: '1', status: 'completed' }])
  })

  it('begin a call that ends without having run', () => {
    const answer = rowsOf(
      { ...call, state: 'requested' },
      { id: 0, type: 'tool', state: 'failed', error: { code: 'invalid_input', message: 'No order' } },
    )
    expect(eventsOf(answer).map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.mcp_call.in_progress',
      'response.mcp_call_arguments.done',
      'response.mcp_call.failed',
      'response.output_item.done',
      'response.completed',
    ])
    expect(outputOf(answer)?.output).toMatchObject([{ error: 'No order', output: null, status: 'failed' }])
  })

  it.each([
    ['complete', 'stop', 'response.completed', 'completed', null],
    ['complete', 'length', 'response.incomplete', 'incomplete', { reason: 'max_output_tokens' }],
    ['complete', 'content_filter', 'response.incomplete', 'incomplete', { reason: 'content_filter' }],
    ['complete', 'unknown', 'response.completed', 'completed', null],
    ['cancelled', 'cancelled', 'response.incomplete', 'cancelled', null],
    ['failed', 'error', 'response.failed', 'failed', null],
    ['interrupted', 'interrupted', 'response.failed', 'failed', null],
  ] as const)(
    'an answer that is %s by %s ends with %s',
    (status, finish_reason, type, expected, incomplete_details) => {
      const frames = createResponseFrames(MESSAGE, {
        answered: { segment: 1, conversation: undefined },
        toFileUrl: String,
      })
      frames.begin(MESSAGE)
      const [, data] = frames.end({ ...MESSAGE, status, finish_reason }).split('\n')
      expect(JSON.parse(data!.slice(6))).toMatchObject({ type, response: { status: expected, incomplete_details } })
    },
  )
})

it('save no copies of what has ended: another page of a long answer takes no more memory', () => {
  const items = createItems(MESSAGE.id, () => undefined as never)
  const steps = createAnswerSteps()
  const add = (idx: number, row: string | PartChange) => items.take(steps.next({ idx, row })!)
  add(0, 'The sky.')
  add(1, { id: 1, type: 'reasoning', text: 'why' } as PartChange)
  const saved = items.save() as { items: OutputItem[] }
  add(2, 'More.')
  const later = items.save() as { items: OutputItem[] }
  expect(later.items).toMatchObject([{ status: 'completed' }, { status: 'completed' }, { status: 'in_progress' }])
  expect(later.items[0]).toBe(saved.items[0])
  // What was open then stays as it was.
  expect(saved.items).toMatchObject([{ status: 'completed' }, { status: 'in_progress' }])
  const again = items.save() as { items: OutputItem[] }
  expect(again.items[1]).toBe(later.items[1])
  expect(again.items[2]).not.toBe(later.items[2])
})
