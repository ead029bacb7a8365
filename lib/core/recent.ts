/** Values that were added lately. */
export interface Recent {
  has(value: string): boolean
  add(value: string): void
  delete(value: string): void
}

/** Creates the values that were added last, up to `maximum`. */
export function createRecent(maximum: number): Recent {
  const values = new Set<string>()
  return {
    has: (value) => values.has(value),
    delete: (value) => void values.delete(value),
    add(value) {
      // A set has its values in the order in which they were added.
      values.delete(value)
      values.add(value)
      const [oldest] = values
      if (values.size > maximum) values.delete(oldest!)
    },
  }
}
