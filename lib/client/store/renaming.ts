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
  const entries = Object.keys(data as object).map((key, n): [string, unknown] => [key, next[n]])
  // The messages of a guest are those of a person now.
  const isByGuest = (data as { author_user_id?: string }).author_user_id === from
  return Object.fromEntries(isByGuest ? entries.filter(([key]) => key !== 'author_kind') : entries)
}
