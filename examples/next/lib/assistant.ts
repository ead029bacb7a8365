import { setTimeout } from 'node:timers/promises'
import type { Assistant } from 'chat-server'

/** Stands in for a model: it counts as far as the question says. */
export const assistant: Assistant = async function* ({ turns, signal }) {
  const last = Number(/\d+/.exec(turns.at(-1)!.content)?.[0] ?? 10)
  for (let n = 1; n <= last; n++) {
    yield `${n} `
    await setTimeout(100, undefined, { signal })
  }
}
