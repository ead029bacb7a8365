/** Data in which one id stands for another; the same data if it has none. A list of ids names each once. */
export function renamed<T>(data: T, from: string, to: string): T
export function renamed(data: unknown, from: string, to: string): unknown {
  if (data === from) return to
  const isList = Array.isArray(data)
  // Maps and sets of the store have ids of messages and conversations alone.
  if (!isList && Object.getPrototypeOf(data ?? '') !== Object.prototype) return data
  const values = Object.values(data as object)
  const next = values.map((value) => renamed(value, from, to))
  if (next.every((value, n) => value === values[n])) return data
  if (isList) return [...new Set(next)]
  return Object.fromEntries(Object.keys(data as object).map((key, n) => [key, next[n]]))
}
