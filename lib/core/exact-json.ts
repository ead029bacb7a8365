/** How deep a value may be nested, as a body of a request. */
const MAX_DEPTH = 32

/** Whether JSON can have the value, and keeps it as it is: numbers that would be stored as others are none. */
export function isExactJson(value: unknown): boolean {
  return isExact(value, MAX_DEPTH)
}

function isExact(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true
    case 'number':
      return Math.abs(value) <= Number.MAX_SAFE_INTEGER
    case 'object':
      if (value === null) return true
      if (depth === 0) return false
      if (Array.isArray(value)) return value.every((item) => isExact(item, depth - 1))
      if (!isPlain(value)) return false
      return Object.values(value).every((entry) => entry === undefined || isExact(entry, depth - 1))
    default:
      return false
  }
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}
