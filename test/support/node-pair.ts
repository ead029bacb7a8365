import type { RequestListener } from 'node:http'

/** Whether each service of a test is two nodes on one database: `npm run test:nodes`. */
export const AS_TWO_NODES = process.env.NODES === '2'

/**
 * A listener in front of two nodes that never stays with one: each request goes to the node that did not get the one
 * before, and each stream to the node that did not get the last request.
 */
export function alternate(nodes: readonly [RequestListener, RequestListener]): RequestListener {
  let last = 1
  return (request, response) => {
    const next = 1 - last
    if (!request.url!.startsWith('/api/stream')) last = next
    nodes[next]!(request, response)
  }
}
