import * as v from 'valibot'
import { Id, Instant } from '../core/schema.ts'

/** A running process of the service, as an administrator reads it. */
export const NodeRecord = v.object({
  id: Id,
  version: v.pipe(v.string(), v.description('With the commit that was built, if that is known: 1.2.3+0a1b2c3d4e5f')),
  host: v.optional(v.pipe(v.string(), v.description('The name of its machine'))),
  pid: v.optional(v.pipe(v.number(), v.integer(), v.description('The id of the process on its machine'))),
  port: v.optional(v.pipe(v.number(), v.integer(), v.description('The TCP port, if it listens on one'))),
  started_at: Instant,
  beat_at: v.pipe(Instant, v.description('When it last reported that it runs')),
  streams: v.pipe(v.number(), v.integer(), v.description('Its open event streams at that time')),
  self: v.optional(v.pipe(v.literal(true), v.description('The process that responds'))),
})
export type NodeRecord = v.InferOutput<typeof NodeRecord>

/** The running processes, the first started first. */
export const NodeList = v.object({ nodes: v.array(NodeRecord) })
export type NodeList = v.InferOutput<typeof NodeList>
