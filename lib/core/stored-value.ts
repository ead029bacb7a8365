/** A value as it is stored: the JSON of a list of one, since it may be of any type. */
export function toStoredValue(value: unknown): string {
  return JSON.stringify([value])
}

export function fromStoredValue(stored: string): unknown {
  return (JSON.parse(stored) as [unknown])[0]
}
