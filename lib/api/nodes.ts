// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'

/** `client.nodes`. */
export interface NodesAdminClient {
  /**
   * List the running processes, first started first.
   *
   * All processes that share the database, at most 1,000. One that has not reported for `cluster.dead_seconds` is
   * dead and not listed.
   */
  list(options?: CallOptions): Promise<NodeList>
}

/** The running processes, the first started first. */
export interface NodeList {
  nodes: NodeRecord[]
}

/** A running process of the service, as an administrator reads it. */
export interface NodeRecord {
  id: string
  version: string
  started_at: string
  /** When it last reported that it runs */
  beat_at: string
  /** Its open event streams at that time */
  streams: number
  /** The process that responds */
  self?: true
}
