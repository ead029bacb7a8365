import type { MessageStatus } from '../../lib/chat/answers/schema.ts'
import type { PartChange, ToolState } from '../../lib/chat/answers/schema-parts.ts'
import type { AnswerRow } from '../../lib/protocols/rows/rules.ts'

/** An answer of random rows, as a provider with tools may write it. */
export interface RandomAnswer {
  rows: AnswerRow[]
  status: MessageStatus
}

const WORDS = ['a', 'é', '😀', 'the ', '\n\n', '"', '\\', '\u2028', 'data: x\n', '</div>']
const ENDS: ToolState[] = ['done', 'failed', 'denied', 'expired', 'unknown', 'cancelled']

/** Makes the same answers for the same seed. @param random in [0, 1) */
export function randomAnswer(random: () => number): RandomAnswer {
  const rows: AnswerRow[] = []
  let at = 0
  const below = (max: number) => Math.floor(random() * max)
  const pick = <T>(from: readonly T[]): T => from[below(from.length)]!
  const add = (row: string | PartChange) => {
    rows.push({ idx: rows.length, row, at })
    return rows.length - 1
  }
  const commit = () => void at++

  function words() {
    for (let n = 0; n < below(4); n++) {
      add(pick(WORDS))
      if (below(2)) commit()
    }
  }

  function others() {
    const id = rows.length
    switch (below(6)) {
      case 0: {
        add({ id, type: 'reasoning', text: pick(WORDS) })
        for (let n = 0; n < below(3); n++) add({ id, type: 'reasoning', delta: pick(WORDS) })
        break
      }
      case 1:
        add({ id, type: 'source', url: 'https://example.org/', title: 'Example', range: [0, below(9)] })
        break
      case 2:
        add({ id, type: 'source', filename: 'report.pdf', media_type: 'application/pdf' })
        break
      case 3:
        add({ id, type: 'file', attachment_id: idOf(id), name: 'a.png', media_type: 'image/png', size: 3 })
        break
      case 4:
        add({ id, type: 'data', name: 'chart', data: { n: below(9) }, ...(below(2) && { key: 'one' }) })
        break
      default: {
        add({ id, type: 'tool', call_id: idOf(id), name: 'search', step: 1, state: 'running', by_provider: true })
        if (below(2)) add({ id, type: 'tool', state: 'running', input: { q: below(9) } })
        if (below(2)) add({ id, type: 'tool', state: 'done', output: [1] })
      }
    }
    if (below(2)) commit()
  }

  function calls(step: number) {
    const states = new Map<number, ToolState>()
    for (let n = 0; n <= below(3); n++) {
      const id = rows.length
      const call_id = idOf(id)
      add({ id, type: 'tool', call_id, name: pick(['refund', 'look']), step, state: 'requested', input: { n } })
      states.set(id, 'requested')
    }
    commit()
    while (states.size > 0) {
      const [id, state] = pick([...states])
      const approval = { by: 'asker' as const, quorum: 1, expires_at: '2026-01-01T00:00:00.000Z' }
      const next = pick(NEXT[state]!)
      add({
        id,
        type: 'tool',
        state: next,
        ...(next === 'waiting' && { approval }),
        ...(next === 'done' && { output: { ok: true } }),
        ...(next === 'failed' && { error: { code: 'tool_error', message: 'No' } }),
      })
      if (ENDS.includes(next)) states.delete(id)
      else states.set(id, next)
      if (below(3)) commit()
    }
    commit()
  }

  for (let step = 1; step <= 1 + below(3); step++) {
    if (step > 1) add({ id: rows.length, type: 'step', step })
    for (let n = 0; n < below(4); n++) {
      words()
      others()
    }
    if (below(2)) calls(step)
  }
  words()
  return { rows, status: pick(['complete', 'complete', 'cancelled', 'failed', 'interrupted']) }
}

const NEXT: Partial<Record<ToolState, ToolState[]>> = {
  requested: ['waiting', 'waiting', 'running', 'failed', 'cancelled'],
  waiting: ['approved', 'denied', 'expired', 'cancelled'],
  approved: ['running', 'running', 'failed', 'cancelled'],
  running: ['done', 'done', 'failed', 'unknown', 'running'],
}

/** An id as the service makes them, the same for the same number. */
export const idOf = (n: number) => `01900000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`
