import { AnswerFailure } from '../chat/answers/answer-failure.ts'
import { isBeyondLimits, type UsedParts } from '../chat/answers/rules-limits.ts'
import type { PartChange } from '../chat/answers/schema-parts.ts'
import { type Attachment, MAX_FILES } from '../chat/attachments/schema.ts'
import { MAX_LENGTH } from '../core/lengths.ts'
import { isStorable } from '../core/schema.ts'
import { wholeBegin } from '../core/whole-begin.ts'
import { wholeLength } from '../core/whole-text.ts'
import { toJsonText } from './json-value.ts'
import type { CheckedPart } from './pieces.ts'
import type { GivenPart } from './provider.ts'
import { type SoFar, withProviderId } from './so-far.ts'

/** The maximum size of the reasoning of an answer, in bytes; more is dropped. */
const MAX_REASONING = 64 * 1024

/** The maximum number of parts of reasoning; more are dropped. */
const MAX_THOUGHTS = 256

/** The longest text of one row: as JSON, with six bytes for each unit, it stays below that of a row. */
export const MAX_ROW_TEXT = 10_000

/** The maximum size of an input or an output, in bytes of JSON: a row has the name of the tool, its title and its state beside it. */
export const MAX_VALUE = MAX_LENGTH.part - 2048

/** Where the rows of an answer go. */
export interface RowSink {
  /** Ends the text so far, and returns the number of the next row. */
  next(): number
  add(change: PartChange, provider_data: string | undefined): void
}

/** A file of the answer, which is stored. */
export type StoredFile = Pick<Attachment, 'id' | 'name' | 'type' | 'size'>

/** A part that later values of the provider change. */
interface OpenPart {
  id: number
  name: string
  hasEnded: boolean
}

/** Where in an answer rows are made. */
export interface StepPlace {
  step: number
  /** What earlier steps have written: limits are those of the whole answer, and a later step may change a part of an earlier one. */
  so_far: SoFar
}

/**
 * Makes rows of an answer from what its provider yields beside text.
 *
 * @param id makes the id of a call
 */
export function createAnswerParts({ next, add }: RowSink, id: () => string, { step, so_far }: StepPlace) {
  const known = new Map(so_far.parts.flatMap(toKnown))
  const reasoning = { id: -1, end: -1, half: '', ...so_far.reasoning }
  const used = { ...so_far.used }
  const files = so_far.parts.flatMap((part) => (part.type === 'file' ? part.attachment_id : []))

  /** @throws AnswerFailure `answer_too_long` */
  function count(counted: UsedParts): void {
    used.parts += counted.parts
    used.rows += counted.rows
    used.bytes += counted.bytes
    if (isBeyondLimits(used)) throw new AnswerFailure('answer_too_long')
  }

  /** Adds a row. @throws AnswerFailure `answer_too_long` */
  function addRow(change: PartChange, isNew: boolean, provider_data = ''): void {
    const size = Buffer.byteLength(JSON.stringify(change))
    if (size > MAX_LENGTH.part) throw new AnswerFailure('answer_too_long')
    count({ parts: isNew ? 1 : 0, rows: 1, bytes: size + provider_data.length })
    add(change, provider_data || undefined)
  }

  function addReasoning(said: string, provider_data: string | undefined): void {
    const all = reasoning.half + said
    const whole = all.slice(0, wholeLength(all))
    if (!isStorable(whole)) throw new AnswerFailure('invalid_answer', 'reasoning with NUL or half a character')
    reasoning.half = all.slice(whole.length)
    count({ parts: 0, rows: 0, bytes: provider_data?.length ?? 0 })
    for (let rest = whole, own = provider_data; rest !== '' || own !== undefined; own = undefined) {
      const piece = wholeBegin(rest, MAX_ROW_TEXT)
      rest = rest.slice(piece.length)
      const at = next()
      const isNew = at !== reasoning.end
      if (isNew) reasoning.parts++
      reasoning.bytes += Buffer.byteLength(piece)
      if (reasoning.bytes > MAX_REASONING || reasoning.parts > MAX_THOUGHTS) return
      if (isNew) reasoning.id = at
      add({ id: reasoning.id, type: 'reasoning', ...(isNew ? { text: piece } : { delta: piece }) }, own)
      reasoning.end = next()
    }
  }

  function addTool(tool: Extract<CheckedPart, { tool: unknown }>['tool'], provider_data: string | undefined): void {
    const { id: key, name, input, output, error } = tool
    const part = known.get(placeOfTool(key))
    if (part && (part.hasEnded || part.name !== name))
      throw new AnswerFailure('invalid_answer', 'a call of a tool that has ended, or has another name')
    const hasEnded = output !== undefined || error !== undefined
    const change: PartChange = {
      id: part?.id ?? next(),
      type: 'tool',
      ...(!part && { call_id: id(), name, step, by_provider: true as const }),
      state: error !== undefined ? 'failed' : hasEnded ? 'done' : 'running',
      ...(input !== undefined && { input: checked(input, 'input of a tool') }),
      ...(output !== undefined && { output: checked(output, 'output of a tool') }),
      ...(error !== undefined && { error: { code: 'tool_error', message: error } }),
    }
    addRow(change, !part, part ? provider_data : withProviderId(provider_data, key))
    known.set(placeOfTool(key), { id: change.id, name, hasEnded })
  }

  function addData(
    { name, key, data }: Extract<CheckedPart, { data: unknown }>['data'],
    provider_data: string | undefined,
  ): void {
    const place = placeOfData(name, key)
    const part = known.get(place)
    const change: PartChange = {
      id: part?.id ?? next(),
      type: 'data',
      name,
      ...(key !== undefined && { key }),
      data: checked(data, 'data of a part'),
    }
    addRow(change, !part, provider_data)
    known.set(place, { id: change.id, name, hasEnded: false })
  }

  return {
    /** The row with which a later step begins. @throws AnswerFailure `answer_too_long` */
    addStep: () => addRow({ id: next(), type: 'step', step }, true),

    /** What the answer has of what is limited, with this step. */
    used: (): Readonly<SoFar['used']> => used,

    /** @throws AnswerFailure `answer_too_long` */
    addFile({ id: attachment_id, name, type: media_type, size }: StoredFile, provider_data: string | undefined): void {
      files.push(attachment_id)
      if (files.length > MAX_FILES) throw new AnswerFailure('answer_too_long')
      addRow({ id: next(), type: 'file', attachment_id, name, media_type, size }, true, provider_data)
    },

    /** @throws AnswerFailure `invalid_answer`, `answer_too_long` */
    add(piece: CheckedPart): void {
      const { provider_data } = piece
      if ('reasoning' in piece) addReasoning(piece.reasoning, provider_data)
      else if ('tool' in piece) addTool(piece.tool, provider_data)
      else if ('data' in piece) addData(piece.data, provider_data)
      else addRow({ id: next(), type: 'source', ...present(piece.source) }, true, provider_data)
    },
  }
}

const placeOfTool = (id: string) => `tool ${id}`
const placeOfData = (name: string, key = '') => `data ${name} ${key}`

/** A part that a later step may change. */
function toKnown(part: GivenPart): [place: string, OpenPart][] {
  const { id } = part
  if (part.type === 'data') return [[placeOfData(part.name, part.key), { id, name: part.name, hasEnded: false }]]
  if (part.type !== 'tool' || part.provider_id === undefined) return []
  return [[placeOfTool(part.provider_id), { id, name: part.name, hasEnded: part.state !== 'running' }]]
}

/** The value, if JSON can have it. @throws AnswerFailure `invalid_answer` */
function checked(value: unknown, name: string): unknown {
  toJsonText(value, name)
  return value
}

function present<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T
}
