import { ChatError, type ErrorCode, STATUSES } from '../../lib/core/errors.ts'
import type { Failure } from '../errors.ts'
import type { ToPrimary } from './messages.ts'

/** Where the workers listen, all in the same place. */
export type Listening = Pick<Extract<ToPrimary, { kind: 'ready' }>, 'url' | 'address'>

/** A place for one worker, while it starts. */
export interface Starting {
  isReady: boolean
  failure?: Failure
}

/** The start of all workers: it ends once all listen, or fails once each has failed and none has ever listened. */
export function createStart(slots: Starting[]) {
  const { promise, resolve, reject } = deferred<Listening>()
  let wasReady = false
  let firstFailure: Failure | undefined
  return {
    promise,
    ready(slot: Starting, { url, address }: Listening): void {
      slot.isReady = true
      delete slot.failure
      wasReady = true
      if (slots.every(({ isReady }) => isReady)) resolve({ url, address })
    },
    /** The worker of `slot` has ended. @returns whether the start has failed */
    hasFailed(slot: Starting, { code, signal }: { code?: number; signal?: string }): boolean {
      if (!slot.isReady) slot.failure ??= { code: 'failed', message: `A worker ended with ${signal ?? code}` }
      slot.isReady = false
      firstFailure ??= slot.failure
      const isOver = !wasReady && slots.every(({ failure }) => failure)
      if (isOver) reject(toError(firstFailure!))
      return isOver
    },
  }
}

/** The error of a worker, to be reported by this process. */
function toError({ code, message, errors }: Failure): Error {
  return code in STATUSES
    ? new ChatError(code as ErrorCode, { message, ...(errors && { errors }) })
    : new Error(message)
}

/** A promise with its functions: Node 20 has no `Promise.withResolvers`. */
export function deferred<T>() {
  let resolve: (value: T) => void = () => {}
  let reject: (error: Error) => void = () => {}
  const promise = new Promise<T>((done, failed) => {
    resolve = done
    reject = failed
  })
  return { promise, resolve, reject }
}
