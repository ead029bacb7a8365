import { isExactJson } from '../core/exact-json.ts'
import { MAX_VALUE } from './answer-parts.ts'
import type { CheckedCall } from './pieces.ts'

/** A call of a tool that a provider has asked for in a step. */
export interface AskedCall {
  /** The id that the provider has given to it. */
  id?: string
  name: string
  /** The value; broken if it is no JSON, has numbers that JSON loses, or is more than a row of an answer holds. */
  input: { value: unknown } | { broken: true }
  /** What the provider keeps with it, as JSON. */
  provider_data?: string
}

/** A call that a provider has yielded. It never throws: the model is told of an input that is broken. */
export function toAskedCall({ tool_call: { id, name, input }, provider_data }: CheckedCall): AskedCall {
  return {
    ...(id && { id }),
    name,
    input: toInput(input),
    ...(provider_data !== undefined && { provider_data }),
  }
}

/** @param input a value, or its JSON; nothing at all is an object without fields, as models call a tool without input */
function toInput(input: unknown): AskedCall['input'] {
  const broken = { broken: true } as const
  try {
    const value = typeof input === 'string' ? parse(input) : (input ?? {})
    if (!isExactJson(value)) return broken
    return Buffer.byteLength(JSON.stringify(value)) > MAX_VALUE ? broken : { value }
  } catch {
    // No JSON, or an object that throws when it is read.
    return broken
  }
}

function parse(text: string): unknown {
  // Each unit has a byte of UTF-8 or more; spaces between values are not worth the time of a parser.
  if (text.length > 4 * MAX_VALUE) throw new RangeError()
  return text.trim() === '' ? {} : JSON.parse(text)
}
