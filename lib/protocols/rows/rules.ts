import type { Part, PartChange } from '../../chat/answers/schema-parts.ts'
import type { Micros } from '../../storage/sql.ts'

/** A row of an answer: a text, or the change of a part, with its number and the instant of its transaction. */
export interface AnswerRow {
  idx: number
  row: string | PartChange
  at: Micros
}

/** A call of a tool, as its rows have made it so far. */
export type CallPart = Extract<Part, { type: 'tool' }>

/**
 * Whether the input of a call is known, which clients take once. That of a call that the provider runs may come behind its first
 * row; it has none if the call ends before.
 */
export function hasInput(call: CallPart | undefined): boolean {
  return call !== undefined && (!call.by_provider || call.input !== undefined || call.state !== 'running')
}

/** What a row adds to an answer. `before` is the part as it was, if it had begun; a text has its begin, whether
 * it is the first one of the answer, and `from`: its place in all text, in UTF-16 units. */
export type RowStep =
  | { type: 'text'; idx: number; part_id: number; text: string; begins: boolean; is_first: boolean; from: number }
  | { type: 'part'; idx: number; change: PartChange; part: Part; before: Part | undefined }

/**
 * The rows of one answer as steps, in their order. It keeps the fold of `core/parts.ts` as far as steps need it: each row costs
 * the same, however long the answer is.
 */
export interface AnswerSteps {
  /** The step of the next row; `undefined` for an empty text, which adds nothing. */
  next(row: Pick<AnswerRow, 'idx' | 'row'>): RowStep | undefined
  /** The number of the row that is expected next. */
  next_idx(): number
  /** Whether the answer waits for participants after the rows so far: then a segment ends, if their transaction has no more. */
  isWaiting(): boolean
  /** The calls on which participants decide after the rows so far, in their order. */
  waitingCalls(): CallPart[]
  /** Where it is: a value that does not change. */
  save(): unknown
  /** Goes on where other steps of the same answer have saved. */
  restore(saved: unknown): void
}

/** How far the steps of an answer have come. */
interface Place {
  next: number
  /** The first text. */
  first: number | undefined
  /** The text that is open. */
  text: number | undefined
  length: number
}

interface SavedSteps {
  parts: ReadonlyMap<number, Part>
  calls: ReadonlySet<CallPart['id']>
  place: Place
}

/** Creates the steps of an answer, before its first row. */
export function createAnswerSteps(): AnswerSteps {
  // Texts are not kept: no step needs more of them than their ids.
  const parts = new Map<number, Part>()
  const calls = new Set<CallPart['id']>()
  const place: Place = { next: 0, first: undefined, text: undefined, length: 0 }

  function textStep(idx: number, text: string): RowStep | undefined {
    if (text === '') return undefined
    const begins = place.text === undefined
    place.text ??= idx
    place.first ??= idx
    const from = place.length
    place.length += text.length
    return { type: 'text', idx, part_id: place.text, text, begins, is_first: place.text === place.first, from }
  }

  function partStep(idx: number, change: PartChange): RowStep {
    place.text = undefined
    const before = parts.get(change.id)
    const { delta: _, ...fields } = change
    const part = { ...before, ...fields } as Part
    parts.set(change.id, withoutResult(part))
    if (part.type === 'tool' && !part.by_provider) calls.add(part.id)
    return { type: 'part', idx, change, part, before }
  }

  const callsIn = (states: readonly CallPart['state'][]) =>
    [...calls].map((id) => parts.get(id) as CallPart).filter(({ state }) => states.includes(state))

  return {
    next({ idx, row }) {
      place.next = idx + 1
      return typeof row === 'string' ? textStep(idx, row) : partStep(idx, row)
    },
    next_idx: () => place.next,
    isWaiting: () => callsIn(['waiting']).length > 0 && callsIn(GOING_ON).length === 0,
    waitingCalls: () => callsIn(['waiting']),
    save: (): SavedSteps => ({ parts: new Map(parts), calls: new Set(calls), place: { ...place } }),
    restore(saved) {
      const before = saved as SavedSteps
      for (const [id, part] of before.parts) parts.set(id, part)
      for (const id of before.calls) calls.add(id)
      Object.assign(place, before.place)
    },
  }
}

/** No later step needs what a call returned, or the data of a part: together they may be large. */
function withoutResult(part: Part): Part {
  if (part.type === 'tool') return { ...part, output: undefined }
  return part.type === 'data' ? { ...part, data: undefined } : part
}

/** The states of calls that go on without participants. */
const GOING_ON: readonly CallPart['state'][] = ['requested', 'approved', 'running']

/**
 * The numbers of the rows with which the segments of an answer end, in their order: each is the last row of a transaction after
 * which the answer waits for participants. What follows the last of them is the segment that goes on.
 */
export function listSegmentEnds(rows: readonly AnswerRow[]): number[] {
  const steps = createAnswerSteps()
  return rows.flatMap(({ idx, row, at }, n) => {
    steps.next({ idx, row })
    return steps.isWaiting() && rows[n + 1]?.at !== at ? [idx] : []
  })
}

/** The calls on which participants decide after these rows. */
export function listWaitingCalls(rows: readonly AnswerRow[]): CallPart[] {
  const steps = createAnswerSteps()
  for (const row of rows) steps.next(row)
  return steps.waitingCalls()
}

/** Where the decisions of one request are among the rows of an answer. */
export interface DecisionPlace {
  /**
   * The end of the segment in which the client has decided: the last one before the decisions at which all of the calls wait, else
   * one of them, else the last one before them; -1 without any.
   */
  after: number
  /** The row of the last decision: what the client is sent does not end before it. -1 while nothing is decided. */
  decided: number
  /** The last end before that row: others may have decided on some of the calls since `after`. */
  last_end: number
}

/** Finds the decisions on these calls, of any user: a repeated request gets the same place. */
export function findDecisions(rows: readonly AnswerRow[], callIds: ReadonlySet<string>): DecisionPlace {
  const decided = findDecided(rows, callIds)
  const ends = listSegmentEnds(rows).filter((idx) => decided < 0 || idx < decided)
  const last_end = ends.at(-1) ?? -1
  const best = { count: 0, idx: last_end }
  const isEnd = new Set(ends)
  const steps = createAnswerSteps()
  for (const { idx, row } of rows) {
    steps.next({ idx, row })
    if (!isEnd.has(idx)) continue
    const count = steps.waitingCalls().filter(({ call_id }) => callIds.has(call_id)).length
    if (count > 0 && count >= best.count) Object.assign(best, { count, idx })
  }
  return { after: best.idx, decided, last_end: decided < 0 ? best.idx : last_end }
}

/** The last row with which one of these calls waits no longer; -1 without one. */
function findDecided(rows: readonly AnswerRow[], callIds: ReadonlySet<string>): number {
  const steps = createAnswerSteps()
  const isDecision = (step: RowStep | undefined) =>
    step?.type === 'part' &&
    step.part.type === 'tool' &&
    callIds.has(step.part.call_id) &&
    (step.before as CallPart | undefined)?.state === 'waiting' &&
    step.part.state !== 'waiting'
  return rows.reduce((last, row) => (isDecision(steps.next(row)) ? row.idx : last), -1)
}
