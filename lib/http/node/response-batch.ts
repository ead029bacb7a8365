import { ServerResponse } from 'node:http'

/** The body of a response, if it has one. */
export type WholeBody = string | Uint8Array | null

/** The requests that were read in one turn of the event loop. */
export interface ResponseBatch {
  /** Ends the response to one of them: together with the others, or at once when the turn has ended. */
  end(response: ServerResponse, body: WholeBody): void
}

/**
 * Makes the function that returns the current turn.
 *
 * Most requests are answered in the turn in which they were read. Each write wakes up the client, or the proxy, that waits
 * for it, and on the same machine it then competes for the processor: written together, all responses of a turn wake it up
 * once, and the code that handles requests stays in the processor's caches.
 */
export function createResponseBatches(): () => ResponseBatch {
  let current: ResponseBatch | undefined
  return () => {
    current ??= createResponseBatch(() => {
      current = undefined
    })
    return current
  }
}

function createResponseBatch(onOver: () => void): ResponseBatch {
  let waiting: [response: ServerResponse, body: WholeBody][] | undefined = []
  // Begun when the first request arrives: a commit of this turn, which syncs the disk, comes later.
  setImmediate(() => {
    const all = waiting ?? []
    waiting = undefined
    onOver()
    for (const [response, body] of all) end(response, body)
  })
  return {
    end(response, body) {
      // An `end` that middleware of a host has wrapped may throw, which is for the caller.
      if (waiting && response.end === ServerResponse.prototype.end) waiting.push([response, body])
      else end(response, body)
    },
  }
}

function end(response: ServerResponse, body: WholeBody): void {
  if (body === null) response.end()
  else response.end(body)
}
