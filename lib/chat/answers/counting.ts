import type { Commit } from '../../live/transaction/commits.ts'
import type { Metrics } from '../../metrics/registry.ts'

/** Counts the calls of tools that have ended, whatever has ended them, once that is durable. */
export function createCallCounter({ toolCalled }: Pick<Metrics, 'toolCalled'>) {
  return {
    committed({ additions }: Pick<Commit, 'additions'>): void {
      for (const { events } of additions)
        for (const { ended_call } of events) if (ended_call !== undefined) toolCalled(ended_call)
    },
  }
}
