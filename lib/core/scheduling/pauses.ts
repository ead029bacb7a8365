/** The maximum number of keys that pause: beyond it, nothing is held. */
const MAX_PAUSING = 10_000

/** Keys that pause. */
export interface Pauses<Value> {
  /** Whether a key pauses: then its last value is passed on at the end. If not, a pause begins. */
  holds(key: string, value: Value): boolean
  /** Passes nothing on any more. */
  close(): void
}

/**
 * Limits how often something happens for a key: at once, and again after `ms` if that was wanted in the meantime.
 *
 * @param pass gets the last value of a key that was held
 */
export function createPauses<Value>(ms: number, pass: (value: Value) => void): Pauses<Value> {
  const pausing = new Map<string, { timer: NodeJS.Timeout; held?: { value: Value } }>()

  function end(key: string): void {
    const { held } = pausing.get(key)!
    pausing.delete(key)
    if (held) pass(held.value)
  }

  return {
    holds(key, value) {
      const pause = pausing.get(key)
      if (pause) pause.held = { value }
      else if (pausing.size < MAX_PAUSING) pausing.set(key, { timer: setTimeout(end, ms, key).unref() })
      return pause !== undefined
    },
    close(): void {
      for (const { timer } of pausing.values()) clearTimeout(timer)
      pausing.clear()
    },
  }
}
