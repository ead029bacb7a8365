import { createHash } from 'node:crypto'
import { fromStoredValue } from '../../core/stored-value.ts'

/** A value as JSON with the names of its fields in order: equal values give equal texts. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([one], [other]) => (one < other ? -1 : 1)))
      : each,
  )
}

/** Inputs may have 64 KiB: each is looked at once. */
const keys = new WeakMap<object, string>()

/** What tells whether two calls are the same. */
export function keyOfCall(call: { name: string; input: string | null }): string {
  const known = keys.get(call)
  if (known !== undefined) return known
  const { name, input } = call
  const digest = createHash('sha256').update(input === null ? '' : canonicalJson(fromStoredValue(input)))
  const key = `${name} ${digest.digest('base64')}`
  keys.set(call, key)
  return key
}
