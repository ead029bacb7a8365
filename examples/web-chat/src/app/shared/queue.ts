/** What is put in by one part and read by another, in order. */
export interface Queue<T> {
  put(item: T): void
  /** Nothing follows; the reader fails with `error`, if there is one. */
  end(error?: unknown): void
  items(): AsyncGenerator<T>
}

export function createQueue<T>(): Queue<T> {
  const waiting: T[] = []
  let ended: { error?: unknown } | undefined
  let wake = () => {}
  return {
    put(item) {
      waiting.push(item)
      wake()
    },
    end(error) {
      ended ??= { error }
      wake()
    },
    async *items() {
      for (;;) {
        while (waiting.length > 0) yield waiting.shift()!
        if (ended?.error !== undefined) throw ended.error
        if (ended) return
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
  }
}
