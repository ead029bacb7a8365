/** Sends something for each of several keys, at most once in a while for each, and the last time never too late. */
export interface Pace {
  /** Sends for a key: at once, or when its pause is over. */
  due(key: string): void
  /** Sends for a key at once, and never again. */
  last(key: string): void
  /** Sends what is due, and ends. */
  end(): void
}

/** @param send is called for a key whose time it is */
export function createPace(ms: number, send: (key: string) => void): Pace {
  /** Keys whose pause is not over, each with its timer, and whether it is due when it is. */
  const pauses = new Map<string, { timer: NodeJS.Timeout; isDue: boolean }>()
  const ended = new Set<string>()

  function sendNow(key: string): void {
    pauses.set(key, { timer: setTimeout(resume, ms, key).unref(), isDue: false })
    send(key)
  }

  function resume(key: string): void {
    const { isDue } = pauses.get(key)!
    pauses.delete(key)
    if (isDue) sendNow(key)
  }

  function forget(key: string): void {
    clearTimeout(pauses.get(key)?.timer)
    pauses.delete(key)
  }

  return {
    due(key) {
      if (ended.has(key)) return
      const pause = pauses.get(key)
      if (pause) pause.isDue = true
      else sendNow(key)
    },
    last(key) {
      if (ended.has(key)) return
      ended.add(key)
      forget(key)
      send(key)
    },
    end() {
      for (const [key, { isDue }] of [...pauses]) {
        forget(key)
        if (isDue) send(key)
      }
    },
  }
}
