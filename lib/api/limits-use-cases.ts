// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Actor } from '../core/actor.ts'
import type {
  Endpoint,
  LimitAssignment,
  LimitProfile,
  LimitRate,
  LimitResetOfAddress,
  LimitResetOfUser,
  LimitStatus,
} from './limits.ts'

/** `chat.limits`. */
export interface LimitsUseCases {
  /**
   * A page of profiles by name. The next page follows the name of the last one, until a page is empty.
   *
   * @throws ChatError `forbidden`; `validation_failed`
   */
  listProfiles(
    actor: Actor,
    input?: {
      /** Only profiles whose name comes after this one */
      after?: string | undefined
    },
  ): Promise<LimitProfile[]>

  /**
   * Creates a profile, which has no effect until it is assigned.
   *
   * @throws ChatError `forbidden`; `conflict` when the name is taken, or there are too many; `validation_failed`
   */
  createProfile(
    actor: Actor,
    input: {
      name: string
      algorithm?: 'gcra' | undefined
      params: LimitRate
      /** At least one visible character, or empty */
      description?: string | undefined
    },
  ): Promise<LimitProfile>

  /**
   * Changes the parameters of a profile, from the next request on, wherever it is assigned.
   *
   * @throws ChatError `forbidden`; `not_found`; `validation_failed`
   */
  updateProfile(
    actor: Actor,
    id: string,
    input: {
      params: LimitRate
      /** At least one visible character. If missing it stays; an empty text removes it */
      description?: string | undefined
    },
  ): Promise<LimitProfile>

  /** Deletes a profile. @throws ChatError `forbidden`; `not_found`; `profile_in_use` while it is assigned */
  deleteProfile(actor: Actor, id: string): Promise<void>

  /** Every assignment, by path and method. @throws ChatError `forbidden` */
  listAssignments(actor: Actor): Promise<LimitAssignment[]>

  /**
   * Assigns a profile to a route, or to all routes with a path prefix, from the next request on.
   *
   * @param endpoints the existing routes, as their adapter knows them
   * @throws ChatError `forbidden`; `validation_failed` when no route has the path; `not_found` for a method that no
   * such route has, and an unknown profile; `conflict` when the method and the path already have a profile, or there
   * are too many assignments
   */
  createAssignment(
    actor: Actor,
    endpoints: readonly Endpoint[],
    input: {
      profile_id: string
      /** `*` is every method */
      method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | '*'
      /** A route's path as in this document, with its parameters, or a prefix followed by `*` */
      path: string
    },
  ): Promise<LimitAssignment>

  /** Removes the assignment of a profile. @throws ChatError `forbidden`; `not_found` */
  deleteAssignment(actor: Actor, id: string): Promise<void>

  /**
   * The callers that are throttled now by the limits that all processes share, and how sign-ins went. What the
   * default limit refuses is not in it: each process counts that in its memory.
   *
   * @throws ChatError `forbidden`; `not_found` for an unknown user; `validation_failed`
   */
  status(
    actor: Actor,
    input?: {
      /** Only what this user has used */
      user_id?: string | undefined
    },
  ): Promise<LimitStatus>

  /**
   * Forgets the calls of a user or an address, which may call again at once.
   *
   * @returns the number of forgotten counts
   * @throws ChatError `forbidden`, also with an API key; `validation_failed`
   */
  reset(actor: Actor, input: LimitResetOfUser | LimitResetOfAddress): Promise<{ reset: number }>
}
