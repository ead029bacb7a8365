import { fromStoredValue } from '../../core/stored-value.ts'
/** A value as JSON with the names of its fields in order: equal values give equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([one], [other]) => (one < other ? -1 : 1)))
      : each,
  )
}

/** What tells whether two calls are the same. */
export function keyOfCall({ name, input }: { name: string; input: string | null }): string {
  return `${name} ${input === null ? '' : canonicalJson(fromStoredValue(input))}`
}
