/** A condition variable: what waits for a change checks again at each of them. */
export interface Condition {
  /** Resolves at the next change. */
  wait(): Promise<void>
  /** Ends all waits. */
  changed(): void
}

export function createCondition(): Condition {
  const waiting: (() => void)[] = []
  return {
    wait: () => new Promise((resolve) => waiting.push(resolve)),
    changed() {
      for (const resolve of waiting.splice(0)) resolve()
    },
  }
}
