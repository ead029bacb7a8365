import type { Bus } from '../../lib/index.ts'

/** A message bus within this process, which returns messages also to their sender. */
export function createTestBus() {
  const listeners = new Set<(bytes: Uint8Array) => void>()
  const published: Uint8Array[] = []

  /** Delivers a message to all subscribers, later, as a network would. */
  function deliver(bytes: Uint8Array): void {
    for (const listener of listeners) setImmediate(() => listener(bytes))
  }

  return {
    published,
    deliver,
    /** The port of one process. */
    connect(): Bus & { isClosed(): boolean } {
      let own: ((bytes: Uint8Array) => void) | undefined
      let isClosed = false
      return {
        publish(bytes) {
          published.push(bytes)
          deliver(bytes)
        },
        subscribe(listener) {
          own = listener
          listeners.add(listener)
        },
        close() {
          if (own) listeners.delete(own)
          isClosed = true
        },
        isClosed: () => isClosed,
      }
    },
  }
}
