import { type AddressContext, findRecipient } from './accounts/mail-recipients.ts'
import { addressInvite } from './chat/invites/mail.ts'
import { addressNotification } from './chat/notifications/service-mail.ts'
import { addressDisabled } from './integrations/webhooks/ending.ts'
import type { Addresser } from './mail/queue.ts'

/** The recipient of a mail: of the conversations, of the webhooks, or of the accounts. */
export function recipientOf(ctx: AddressContext, ...[order, options]: Parameters<Addresser>): ReturnType<Addresser> {
  switch (order.mail) {
    case 'notification':
      return addressNotification(ctx, order)
    case 'conversation_invite':
      return addressInvite(ctx, order)
    case 'webhook_disabled':
      return addressDisabled(ctx, order)
    default:
      return findRecipient(ctx, order, options)
  }
}
