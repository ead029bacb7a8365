// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Actor } from '../core/actor.ts'
import type { MailPage } from './mails.ts'

/** `chat.mails`. */
export interface MailsUseCases {
  /** A page of the mails that wait or were given up, oldest first. @throws ChatError `forbidden`; `validation_failed` */
  list(
    actor: Actor,
    input?: {
      /** `next_after` of the previous page */
      after?: string | undefined
      /** At most 200; larger values are lowered to it */
      limit?: number | undefined
    },
  ): Promise<MailPage>

  /**
   * Has mails tried at once: one, or all, failed ones too. @throws ChatError `forbidden`, `not_found`;
   * `validation_failed`
   */
  retry(actor: Actor, input?: { id?: string | undefined }): Promise<{ retried: number }>

  /** Deletes mails unsent: one, or all. @throws ChatError `forbidden`, `not_found`; `validation_failed` */
  drop(actor: Actor, input?: { id?: string | undefined }): Promise<{ dropped: number }>
}
