import * as v from 'valibot'

export const Heartbeat = v.object({ status: v.optional(v.picklist(['online', 'away', 'offline']), 'online') })
export type Heartbeat = v.InferOutput<typeof Heartbeat>
