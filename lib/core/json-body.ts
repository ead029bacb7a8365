import { ChatError } from './errors.ts'

/** The maximum complexity of a body: larger ones are attacks. */
export interface BodyLimits {
  bytes: number
  /** The maximum number of entries in all its arrays and objects together. */
  entries: number
  /** How long a body may take; without it, Node's own limit applies alone. */
  seconds?: number | undefined
}

/** The maximum nesting of a body: no input of the service is deeper. */
const MAX_DEPTH = 32

/** Text of a body, whose bytes must be UTF-8. */
export const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** @throws ChatError `payload_too_large`, `unsupported_media_type`; the body stays unread */
export function assertBodyAcceptable(headers: Headers, { bytes }: BodyLimits): void {
  if (Number(headers.get('content-length') ?? 0) > bytes) throw new ChatError('payload_too_large')
  const type = /^application\/json\s*(?:;\s*charset\s*=\s*"?([^";\s]+)"?\s*)?$/i.exec(headers.get('content-type') ?? '')
  const charset = type?.[1]?.toLowerCase() ?? 'utf-8'
  if (!type || charset !== 'utf-8' || headers.has('content-encoding')) throw new ChatError('unsupported_media_type')
}

/**
 * The value of the JSON of a body.
 *
 * @param read returns its text, or throws where it is none
 * @throws ChatError `malformed_json`
 */
export function parseJson(read: () => string, limits: BodyLimits): unknown {
  let value: unknown
  try {
    value = JSON.parse(read())
  } catch (cause) {
    throw new ChatError('malformed_json', { cause })
  }
  const budget = { entries: limits.entries }
  if (!isModest(value, MAX_DEPTH, budget))
    throw new ChatError('malformed_json', {
      message: 'The body is nested too deeply, has too many entries, or a key that is not allowed.',
    })
  return value
}

function isModest(value: unknown, depth: number, budget: { entries: number }): boolean {
  if (typeof value !== 'object' || value === null) return true
  const entries = Object.values(value)
  budget.entries -= entries.length
  if (depth === 0 || budget.entries < 0 || Object.hasOwn(value, '__proto__')) return false
  return entries.every((entry) => isModest(entry, depth - 1, budget))
}
