import * as v from 'valibot'
import { DisplayName, Email, Password, User, Username } from '../users/schema.ts'

export const SetupStatus = v.object({ is_setup: v.boolean() })
export type SetupStatus = v.InferOutput<typeof SetupStatus>

export const AdministratorInput = v.object({
  email: Email,
  password: Password,
  username: v.optional(v.pipe(Username, v.description('Default: the part of the e-mail before the @'))),
  display_name: v.optional(DisplayName),
})
export type AdministratorInput = v.InferOutput<typeof AdministratorInput>

export const SetupDone = v.object({ is_setup: v.literal(true), user: User })
export type SetupDone = v.InferOutput<typeof SetupDone>
