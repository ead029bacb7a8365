import { describe, expect, it } from 'vitest'
import type { PartChange, ToolState } from '../../../lib/chat/answers/schema-parts.ts'
import { foldParts } from '../../../lib/core/parts.ts'
import { type AnswerRow, createAnswerSteps, findDecisions, listSegmentEnds } from '../../../lib/protocols/rows/rules.ts'

const tool = (id: number, state: ToolState): PartChange => ({
  id,
  type: 'tool',
  call_id: `call-${id}`,
  name: 'pay',
  state,
})

/** Rows, each transaction a list of its own. */
const rowsOf = (...transactions: (string | PartChange)[][]): AnswerRow[] =>
  transactions.flatMap((rows, n) => rows.map((row) => ({ row, at: n }))).map((each, idx) => ({ ...each, idx }))

describe('the steps of an answer', () => {
  it('has the fields of a part as all rows have set them, and the begin of each text', () => {
    const rows = [
      'Let ',
      'me',
      '',
      tool(3, 'requested'),
      { id: 3, type: 'tool', state: 'done', output: 1 },
      'So',
    ] as const
    const steps = createAnswerSteps()
    const seen = rows.map((row, idx) => steps.next({ idx, row }))
    expect(seen).toMatchObject(
      [
        { type: 'text', part_id: 0, text: 'Let ', begins: true },
        { type: 'text', part_id: 0, text: 'me', begins: false },
        {},
        { type: 'part', part: { state: 'requested' } },
        { type: 'part', part: { id: 3, state: 'done', name: 'pay', output: 1 }, before: { state: 'requested' } },
        { type: 'text', part_id: 5, begins: true },
      ].map((each, n) => (n === 2 ? undefined : each)),
    )
    expect(foldParts([...rows]).map(({ id }) => id)).toEqual([0, 3, 5])
    expect(steps.next_idx()).toBe(6)
  })

  it.each<[string, (string | PartChange)[][], number[]]>([
    ['text alone', [['a'], ['b']], []],
    ['one call that waits', [['a'], [tool(1, 'requested'), tool(1, 'waiting')]], [2]],
    [
      'a call that waits while another runs',
      [[tool(0, 'requested'), tool(1, 'requested'), tool(0, 'waiting')], [tool(1, 'running')], [tool(1, 'done')]],
      [4],
    ],
    ['a call that is begun with another that waits', [[tool(0, 'waiting'), tool(1, 'requested')]], []],
    [
      'two decisions in two transactions',
      [[tool(0, 'waiting'), tool(1, 'waiting')], [tool(0, 'denied')], [tool(1, 'denied')]],
      [1, 2],
    ],
    [
      'two decisions in one',
      [
        [tool(0, 'waiting'), tool(1, 'waiting')],
        [tool(0, 'denied'), tool(1, 'denied')],
      ],
      [1],
    ],
    [
      'an approved call, and one that waits',
      [[tool(0, 'waiting'), tool(1, 'waiting')], [tool(0, 'approved')], [tool(0, 'running')], [tool(0, 'done')]],
      [1, 4],
    ],
    [
      'a call with files behind its result',
      [
        [tool(0, 'waiting'), tool(1, 'waiting')],
        [tool(0, 'approved')],
        [tool(0, 'done'), { id: 4, type: 'source', url: 'https://example.org/' }],
      ],
      [1, 4],
    ],
    ['a call of the provider', [[{ ...tool(0, 'running'), by_provider: true }, tool(1, 'waiting')]], [1]],
    ['a wait that is cancelled', [[tool(0, 'waiting')], [tool(0, 'cancelled')]], [0]],
  ])('ends segments: %s', (_, transactions, ends) => {
    expect(listSegmentEnds(rowsOf(...transactions))).toEqual(ends)
  })
})

describe('the decisions of a request among the rows of an answer', () => {
  const WAITING = [tool(0, 'waiting'), tool(1, 'waiting')]

  it.each<[string, (string | PartChange)[][], number[], [after: number, decided: number, last_end: number]]>([
    ['none yet', [WAITING], [0, 1], [1, -1, 1]],
    ['one, while the other waits', [WAITING, [tool(0, 'denied')]], [0], [1, 2, 1]],
    ['both at once', [WAITING, [tool(0, 'denied'), tool(1, 'denied')]], [0, 1], [1, 3, 1]],
    ['the second, after that of others', [WAITING, [tool(0, 'denied')], [tool(1, 'denied')]], [1], [2, 3, 2]],
    ['both, one of which others had decided', [WAITING, [tool(0, 'denied')], [tool(1, 'denied')]], [0, 1], [1, 3, 2]],
    ['the first again, after all', [WAITING, [tool(0, 'denied')], [tool(1, 'denied')]], [0], [1, 2, 1]],
    [
      'one while another call runs',
      [[tool(0, 'waiting'), tool(1, 'running')], [tool(0, 'approved')], [tool(1, 'done')]],
      [0],
      [-1, 2, -1],
    ],
    [
      'one before a later step waits',
      [[tool(0, 'waiting')], [tool(0, 'denied')], [{ id: 2, type: 'step', step: 2 }], [tool(3, 'waiting')]],
      [0],
      [0, 1, 0],
    ],
    ['of calls that are not there', [WAITING], [7], [1, -1, 1]],
    ['without a wait', [['a']], [0], [-1, -1, -1]],
  ])('are %s', (_, transactions, calls, [after, decided, last_end]) => {
    const callIds = new Set(calls.map((id) => `call-${id}`))
    expect(findDecisions(rowsOf(...transactions), callIds)).toEqual({ after, decided, last_end })
  })
})
