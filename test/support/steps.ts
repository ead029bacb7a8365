import type { Steps } from '../../lib/core/scheduling/steps.ts'

/** Does all steps at once. @returns the result */
export function finish<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}
