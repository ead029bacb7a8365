import * as v from 'valibot'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { opaque } from '../../core/schema.ts'
import { Email } from '../users/schema.ts'

/** The token of a mailed link that verifies an address. */
export const EmailProof = v.object({ token: opaque(MAX_LENGTH.token) })
export type EmailProof = v.InferOutput<typeof EmailProof>

/** A mailed link besides an invite: what it does, by its name in `links.*`, and its token. */
export const MailedLink = v.object({
  link: v.picklist(['reset_password', 'verify_email', 'change_email', 'undo_email']),
  token: opaque(MAX_LENGTH.token),
})
export type MailedLink = v.InferOutput<typeof MailedLink>

/** The address that a user wants to have. */
export const EmailChange = v.object({ email: Email })
export type EmailChange = v.InferOutput<typeof EmailChange>
