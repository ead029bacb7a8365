/** The maximum number of keys that pause: beyond it, nothing is held. */
const MAX_PAUSING = 10_000

interface Pause<Value> {
  timer: NodeJS.Timeout
  value: Value
  isHeld: boolean
}

/** Keys of owners that pause. */
export type Pauses<Owner, Value> = ReturnType<typeof createPauses<Owner, Value>>

/**
 * Limits how often something happens for a key of an owner: at once, and again after `ms` if that was wanted in the meantime.
 *
 * @param pass gets the last value of a key that was held
 */
export function createPauses<Owner, Value>(ms: number, pass: (value: Value, owner: Owner) => void) {
  const owners = new Map<Owner, Map<string, Pause<Value>>>()
  let pausing = 0

  function end(owner: Owner, key: string): void {
    const keys = owners.get(owner)!
    const { value, isHeld } = keys.get(key)!
    keys.delete(key)
    pausing--
    if (keys.size === 0) owners.delete(owner)
    if (isHeld) pass(value, owner)
  }

  function leave(owner: Owner): void {
    const keys = owners.get(owner)
    if (!keys) return
    for (const { timer } of keys.values()) clearTimeout(timer)
    pausing -= keys.size
    owners.delete(owner)
  }

  return {
    /** Whether a key pauses: then its last value is passed on at the end. */
    hold(owner: Owner, key: string, value: Value): boolean {
      const pause = owners.get(owner)?.get(key)
      if (pause) Object.assign(pause, { value, isHeld: true })
      return pause !== undefined
    },

    /**
     * Begins the pause of a key that has none.
     *
     * @param options.isHeld whether the value is passed on at the end
     */
    begin(owner: Owner, key: string, value: Value, { isHeld = false } = {}): void {
      if (pausing === MAX_PAUSING) return
      const keys = owners.get(owner) ?? new Map<string, Pause<Value>>()
      const timer = setTimeout(end, ms, owner, key).unref()
      owners.set(owner, keys.set(key, { timer, value, isHeld }))
      pausing++
    },

    /** Passes the last values of an owner on at the end of their pauses, if they are meant. */
    repeat(owner: Owner, isMeant: (value: Value) => boolean): void {
      for (const pause of owners.get(owner)?.values() ?? []) pause.isHeld ||= isMeant(pause.value)
    },

    /** Ends the pauses of an owner, and passes none of its values on. */
    leave,

    /** Passes nothing on any more. */
    close(): void {
      for (const owner of [...owners.keys()]) leave(owner)
    },
  }
}
