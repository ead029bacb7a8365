import * as v from 'valibot'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { Instant, opaque, text } from '../../core/schema.ts'
import { Password } from '../users/schema.ts'

/** The email address of an account with a forgotten password. */
export const ForgottenPassword = v.object({ email: text(MAX_LENGTH.email) })
export type ForgottenPassword = v.InferOutput<typeof ForgottenPassword>

export const PasswordReset = v.object({
  token: opaque(MAX_LENGTH.token),
  password: Password,
  keep_keys: v.optional(v.pipe(v.boolean(), v.description('Keep the API keys of the user')), false),
})
export type PasswordReset = v.InferOutput<typeof PasswordReset>

/** A one-time reset token; with `url` if the service knows its public address. */
export const ResetLink = v.object({ token: v.string(), url: v.optional(v.string()), expires_at: Instant })
export type ResetLink = v.InferOutput<typeof ResetLink>
