import type { Context } from '../context.ts'
import type { Addressed, AddressOptions, MailOrder } from '../mail/queue.ts'
import { addressVerification } from './email-addresses/mail.ts'
import { addressNotice } from './mails/notices.ts'
import { addressRequest } from './mails/requests.ts'
import { addressReset } from './password-resets/mail.ts'

/** What the recipients of mails are found with. */
export type AddressContext = Pick<Context, 'access' | 'config' | 'db' | 'now' | 'write'>

/** Finds the recipient of a mail when it is sent; `undefined` if the mail is not needed any more. */
export function findRecipient(
  ctx: AddressContext,
  order: MailOrder,
  options: AddressOptions,
): Promise<Addressed | undefined> {
  switch (order.mail) {
    case 'reset_password':
      return addressReset(ctx, order, options)
    case 'verify_email':
      return addressVerification(ctx, order, options)
    case 'invite':
    case 'change_email':
    case 'undo_email':
      return addressRequest(ctx, order, order.mail)
    default:
      return addressNotice(ctx, order, options)
  }
}
