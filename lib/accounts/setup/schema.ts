import * as v from 'valibot'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { opaque } from '../../core/schema.ts'
import { ChosenUsername, DisplayName, Email, Password, User } from '../users/schema.ts'

export const SetupStatus = v.object({ is_setup: v.boolean() })
export type SetupStatus = v.InferOutput<typeof SetupStatus>

export const AdministratorInput = v.object({
  email: Email,
  password: Password,
  username: v.optional(
    v.pipe(
      ChosenUsername,
      v.description('Visible characters, no outer spaces. Default: the email address up to its @'),
    ),
  ),
  display_name: v.optional(DisplayName),
})
export type AdministratorInput = v.InferOutput<typeof AdministratorInput>

/** The body of a set-up request, with the code if one is configured. */
export const SetupInput = v.object({
  ...AdministratorInput.entries,
  setup_code: v.optional(
    v.pipe(opaque(MAX_LENGTH.password), v.description('The value of `setup.code`, if configured')),
  ),
})
export type SetupInput = v.InferOutput<typeof SetupInput>

export const SetupDone = v.object({ is_setup: v.literal(true), user: User })
export type SetupDone = v.InferOutput<typeof SetupDone>
