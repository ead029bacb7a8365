/** The first failure of a run. */
export interface Failure {
  fail(error: Error): void
  /** The result of `work`, unless a failure comes first. */
  or<T>(work: Promise<T>): Promise<T>
}

export function createFailure(): Failure {
  let fail!: (error: Error) => void
  const failed = new Promise<never>((_, reject) => {
    fail = reject
  })
  // Rejects for waiting callers; without any, the rejection must not end the process.
  failed.catch(() => {})
  return { fail, or: (work) => Promise.race([work, failed]) }
}
