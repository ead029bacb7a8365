import * as v from 'valibot'

export const Health = v.object({ status: v.literal('ok') })
export type Health = v.InferOutput<typeof Health>

const Check = v.literal('ok')

export const ReadinessChecks = v.object({
  database: Check,
  migrations: Check,
  bus: Check,
  clock: Check,
  /** Where messages can have files. `missing` leaves the service ready: a chat without its files is a chat. */
  attachments: v.optional(v.picklist(['ok', 'missing'])),
})

export const Readiness = v.object({ status: v.literal('ready'), checks: ReadinessChecks })
export type Readiness = v.InferOutput<typeof Readiness>
