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
  /** With the commit that was built, if that is known: 1.2.3+0a1b2c3d4e5f */
  version: string
  /** The name of its machine */
  host?: string
  /** The id of the process on its machine */
  pid?: number
  /** The TCP port, if it listens on one */
  port?: number
  started_at: string
  /** When it last reported that it runs */
  beat_at: string
  /** Its open event streams at that time */
  streams: number
  /** The process that responds */
  self?: true
}
