import { cut } from '../core/stored-parts.ts'
import { withResult } from './call-results.ts'
import type { GivenPart } from './provider.ts'

/** Values of calls that readers do not get, and that no row of an answer has, by the ids of the calls. */
export type CallValues = ReadonlyMap<string, { input?: unknown; output?: unknown }>

/** The most that an assistant gets of an output of an earlier answer, in bytes of JSON. */
const MAX_OUTPUT = 2048

/**
 * The parts of an earlier answer as an assistant gets them: each call with a result, of which only the begin if it is long.
 * Other long values, but the inputs of calls, are left out as in lists of messages.
 */
export function toEarlierParts(parts: readonly GivenPart[], hidden: CallValues): GivenPart[] {
  return parts.map((part) => {
    if (part.type === 'text') return part
    if (part.type !== 'tool') return cut(part)
    return withShortOutput(withResult({ ...part, ...hidden.get(part.call_id) }))
  })
}

function withShortOutput(part: GivenPart): GivenPart {
  if (part.type !== 'tool' || part.output === undefined) return part
  const bytes = Buffer.from(JSON.stringify(part.output))
  if (bytes.length <= MAX_OUTPUT) return part
  const begin = wholeText(bytes, MAX_OUTPUT)
  const output = `${begin}\n[Cut here: these are the first ${Buffer.byteLength(begin)} of ${bytes.length} bytes.]`
  return { ...part, output, cut: bytes.length }
}

/** The begin of a text, without part of a character at its end. */
function wholeText(bytes: Buffer, length: number): string {
  let end = length
  // The second and later bytes of a character are 10xxxxxx.
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end)
}
