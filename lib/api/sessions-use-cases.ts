// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Actor } from '../core/actor.ts'
import type { Revoked, SessionsOfUsers } from './users.ts'

/** `chat.sessions`. */
export interface SessionsUseCases {
  /**
   * The live sessions, oldest first: of one user or of all.
   *
   * @throws ChatError `forbidden`; `validation_failed`
   */
  list(
    actor: Actor,
    input?: {
      user_id?: string | undefined
      after?: string | undefined
      /** At most 200; larger values are lowered to it */
      limit?: number | undefined
    },
  ): Promise<SessionsOfUsers>

  /**
   * Ends sessions at once; their streams close. With all sessions of a user, or of all users, what would give others
   * access again ends too: API keys, reset links, requested changes of the address and links that undo one.
   *
   * @returns the number of sessions ended
   * @throws ChatError `forbidden`, also with an API key; `not_found` for a session or a user that does not exist;
   * `validation_failed`
   */
  revoke(actor: Actor, input: { session_id: string } | { user_id: string } | { all: true }): Promise<Revoked>

  /**
   * Ends the open streams of a person of the host's, on all nodes, and the links to files: call it when the person
   * has logged out. A stream that is opened after this call stays open. A subject without a user has no streams.
   *
   * @throws ChatError `validation_failed` for a subject that is none
   */
  endForSubject(subject: string): Promise<void>
}
