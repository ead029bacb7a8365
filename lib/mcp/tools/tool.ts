import type * as v from 'valibot'
import type { Message } from '../../chat/messages/schema.ts'
import type { Context, Endpoint } from '../../context.ts'
import type { Actor, McpScope } from '../../core/actor.ts'
import type { McpStream } from '../call.ts'
import type { Revision } from '../message.ts'
import type { Json } from '../protocol.ts'

/** What a tool is called with besides its arguments. */
export interface ToolCall {
  ctx: Context
  actor: Actor
  revision: Revision
  stream: McpStream
  /** Aborted when the client has closed the response. */
  signal: AbortSignal
}

/** A resource that a result names. */
export interface ResourceLink {
  uri: string
  name: string
  mimeType?: string
}

/** The result of a tool: a value of its output, and what it leads to. */
export interface ToolResult {
  value: Json
  links?: ResourceLink[]
  /** An answer that has not ended, where the client takes it as a task. */
  task?: Message
}

/** A tool: one call of a use-case, whose rights and limits are its own. */
export interface Tool<Args extends v.GenericSchema = v.GenericSchema> {
  title: string
  description: string
  scope: McpScope
  /** What it does: reads; writes, where another call with the same arguments changes nothing more; or adds something each time. */
  effect: 'reads' | 'sets' | 'adds'
  /** The route of the same use-case, whose limit the calls count against. */
  route(args: v.InferOutput<Args>): Endpoint
  args: Args
  output: v.GenericSchema
  /** Whether the actor can use it at all. Default: yes. Without it, the rights of the use-case decide. */
  isOffered?(ctx: Context, actor: Actor): boolean | Promise<boolean>
  /** Whether a call with these arguments may wait: then its response is a stream where the client reads those. */
  waits?(args: v.InferOutput<Args>): boolean
  run(call: ToolCall, args: v.InferOutput<Args>): Promise<ToolResult>
}

/** A tool whose arguments have the types of their schema. */
export function tool<Args extends v.GenericSchema>(spec: Tool<Args>): Tool {
  return spec as unknown as Tool
}
