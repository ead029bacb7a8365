/** The first thing that went wrong in a run, wherever it did. */
export interface Failure {
  fail(error: Error): void
  /** What `work` resolves to, unless something goes wrong first. */
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
