import * as v from 'valibot'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { withoutArrays } from '../../core/schema.ts'

/** What a host keeps with a conversation or a message: a JSON object. An empty one is none. */
export const Metadata = v.pipe(
  withoutArrays(v.record(v.string(), v.unknown())),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return
    const { value } = dataset
    if (!isSmallJson(value)) addIssue({ message: `must be JSON of at most ${MAX_LENGTH.metadata} bytes of UTF-8` })
    else for (const path of findInexact(value)) addIssue({ message: INEXACT, path: toIssuePath(path) })
  }),
  v.description(
    `A JSON object of the application, of at most ${MAX_LENGTH.metadata} bytes; {} is none. Numbers are at most 2^53 - 1 from zero: others would be stored as another number`,
  ),
)
export type Metadata = v.InferOutput<typeof Metadata>

const INEXACT = 'must be a number of at most 2^53 - 1, positive or negative; send a longer one as text'

/**
 * The places of numbers that are stored as another one. Of a text such as `9007199254740993` or `1e400` the parser has lost
 * the digits, but its value is beyond these limits, too. What lies within is a double, and stays that double.
 */
function findInexact(value: unknown): string[][] {
  if (typeof value === 'number') return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? [] : [[]]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, entry]) => findInexact(entry).map((path) => [key, ...path]))
}

function toIssuePath(keys: string[]): [v.UnknownPathItem, ...v.UnknownPathItem[]] {
  const items = keys.map((key) => ({
    type: 'unknown' as const,
    origin: 'value' as const,
    input: undefined,
    key,
    value: undefined,
  }))
  return items as [v.UnknownPathItem, ...v.UnknownPathItem[]]
}

/** Whether a value can be written as JSON that is short enough. */
function isSmallJson(value: Record<string, unknown>): boolean {
  try {
    const json = JSON.stringify(value)
    return json.length <= MAX_LENGTH.metadata && Buffer.byteLength(json) <= MAX_LENGTH.metadata
  } catch {
    return false
  }
}
