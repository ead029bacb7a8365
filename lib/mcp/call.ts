import type { Context } from '../context.ts'
import type { Actor, McpScope } from '../core/actor.ts'
import type { Sink } from '../live/readers/reader.ts'
import type { Accepted } from './accept.ts'
import type { Revision, RpcRequest } from './message.ts'
import type { Json } from './protocol.ts'

/** A request of the protocol whose caller is known. */
export interface McpCall {
  ctx: Context
  actor: Actor
  scopes: ReadonlySet<McpScope>
  request: RpcRequest
  revision: Revision
  accepted: Accepted
}

/** What a call sends before its result, where its response is a stream. */
export interface McpStream {
  /** Sends a notification. */
  notify(method: string, params: Json): void
  /** Sends how far the call is, if the client wants to know. */
  progress(count: number): void
  /** Sends a comment, which keeps proxies from closing the connection. */
  beat(): void
  /** How far the client has read. */
  pressure: Pressure
}

/** How far the client of a stream has read. */
export type Pressure = Pick<Sink, 'pending' | 'drained' | 'progress'>

/** A call that may be made: its parameters and scopes are checked. */
export interface PreparedCall {
  /** Whether its response is a stream: always, or where the client reads them, since the call may wait. */
  streams?: 'always' | 'if_read'
  /** Gives back what was reserved: called instead of {@link run}, where the client has left before. */
  cancel?(): void
  /** @param signal aborted when the client has closed the response */
  run(stream: McpStream, signal: AbortSignal): Promise<Json>
}

/** A method of the protocol. */
export interface McpMethod {
  /** Where it exists. */
  revisions: 'all' | 'modern' | 'legacy'
  /** The extension that a client must declare to call it. */
  extension?: string
  /** How long a client may keep the result, which depends on the caller; missing for one that is not kept. */
  ttl_ms?: number
  /** @throws RpcError for wrong parameters, or a scope that is missing */
  prepare(call: McpCall): PreparedCall | Promise<PreparedCall>
}
