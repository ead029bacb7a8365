/** Data in which one id stands for another; the same data if it has none. A list of ids names each once. */
export function renamed<T>(data: T, from: string, to: string): T
export function renamed(data: unknown, from: string, to: string): unknown {
  if (data === from) return to
  const isList = Array.isArray(data)
  // Maps and sets of the store have ids of messages and conversations alone.
  if (!isList && Object.getPrototypeOf(data ?? '') !== Object.prototype) return data
  const before = data as Record<string, unknown>
  const entries = Object.entries(before).map(([key, value]): [string, unknown] => [key, renamed(value, from, to)])
  if (entries.every(([key, value]) => value === before[key])) return data
  if (isList) return [...new Set(entries.map(([, value]) => value))]
  const next = Object.fromEntries(entries)
  // The messages of a guest are those of a person now.
  if (before.author_user_id === from) delete next.author_kind
  return next
}
