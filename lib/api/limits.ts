// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'
import type { Actor } from '../core/actor.ts'

/** `chat.limits`. */
export interface LimitsUseCases {
  /**
   * Profiles by name, as many as an answer holds. What follows the last one is asked for with its name, until
   * nothing comes.
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
   * Makes a profile, which limits nothing until it is assigned.
   *
   * @throws ChatError `forbidden`; `conflict` when the name is taken, or there are too many; `validation_failed`
   */
  createProfile(
    actor: Actor,
    input: {
      name: string
      algorithm?: 'gcra' | undefined
      params: LimitRate
      description?: string | undefined
    },
  ): Promise<LimitProfile>

  /**
   * Gives a profile other parameters, which count from the next request on, wherever it is assigned.
   *
   * @throws ChatError `forbidden`; `not_found`; `validation_failed`
   */
  updateProfile(
    actor: Actor,
    id: string,
    input: {
      params: LimitRate
      /** If missing it stays; an empty text removes it */
      description?: string | undefined
    },
  ): Promise<LimitProfile>

  /** Deletes a profile. @throws ChatError `forbidden`; `not_found`; `profile_in_use` while it is assigned */
  deleteProfile(actor: Actor, id: string): Promise<void>

  /** Every assignment, by path and method. @throws ChatError `forbidden` */
  listAssignments(actor: Actor): Promise<LimitAssignment[]>

  /**
   * Has a profile limit a route, or all whose path begins alike, from the next request on.
   *
   * @param endpoints the routes there are, as the adapter knows them that serves them
   * @throws ChatError `forbidden`; `validation_failed` when the path is that of no route; `not_found` for a method
   * that no   such route has, and an unknown profile; `conflict` when the method and the path have a profile, or
   * there are too   many assignments
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

  /** Takes a profile off a route. @throws ChatError `forbidden`; `not_found` */
  deleteAssignment(actor: Actor, id: string): Promise<void>
}

/** `client.limits`. */
export interface LimitsClient {
  /**
   * Assign a profile to a route, or to all routes with a prefix.
   *
   * The path is a route's path as in this document, or a prefix followed by `*`. If several match, the longest wins.
   * At most 1,000 assignments (`conflict`).
   *
   * @throws ChatError `not_found`, `conflict`, `validation_failed`
   */
  createAssignment(
    input: {
      profile_id: string
      /** `*` is every method */
      method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | '*'
      /** A route's path as in this document, with its parameters, or a prefix followed by `*` */
      path: string
    },
    options?: CallOptions,
  ): Promise<LimitAssignment>

  /**
   * Create a profile; it has no effect until it is assigned.
   *
   * Names are unique; at most 1,000 profiles (`conflict`). After a pause, `burst` requests pass at once, then
   * `requests_per_second`.
   *
   * @throws ChatError `conflict`, `validation_failed`
   */
  createProfile(
    input: {
      name: string
      algorithm?: 'gcra' | undefined
      params: LimitRate
      description?: string | undefined
    },
    options?: CallOptions,
  ): Promise<LimitProfile>

  /**
   * Delete an assignment.
   *
   * The route then uses the next matching assignment, or the configured default limit.
   *
   * @throws ChatError `not_found`
   */
  deleteAssignment(id: string, options?: CallOptions): Promise<void>

  /**
   * Delete a profile without assignments.
   *
   * Refused while the profile is assigned (`profile_in_use`).
   *
   * @throws ChatError `not_found`, `profile_in_use`
   */
  deleteProfile(id: string, options?: CallOptions): Promise<void>

  /**
   * List the assignments of profiles to routes.
   *
   * Routes without an assignment use the configured default limit.
   */
  listAssignments(options?: CallOptions): Promise<LimitAssignment[]>

  /**
   * List the profiles of rate limits, by name.
   *
   * 404 unless `rate_limits.admin_api_enabled` is on, like all calls about limits. A page ends early if descriptions
   * are long: continue with `after`, the last name, until the page is empty.
   *
   * @throws ChatError `validation_failed`
   */
  listProfiles(
    input?: {
      /** Only profiles whose name comes after this one */
      after?: string | undefined
    },
    options?: CallOptions,
  ): Promise<LimitProfile[]>

  /**
   * Change the parameters and the description of a profile.
   *
   * Applies from the next request on, in every process.
   *
   * @throws ChatError `not_found`, `validation_failed`
   */
  updateProfile(
    id: string,
    input: {
      params: LimitRate
      /** If missing it stays; an empty text removes it */
      description?: string | undefined
    },
    options?: CallOptions,
  ): Promise<LimitProfile>
}

/** A limit that can be assigned to routes. */
export interface LimitProfile {
  id: string
  name: string
  algorithm: 'gcra'
  params: LimitRate
  description?: string
  created_at: string
  updated_at: string
}

/** How often: `burst` requests at once from rest, then `requests_per_second`. */
export interface LimitRate {
  /** Requests per second after the burst; may be a fraction, such as 0.5 */
  requests_per_second: number
  /** Requests that pass at once after a pause; must refill within a year */
  burst: number
}

/** A profile in use on a route, or on all whose path begins alike. */
export interface LimitAssignment {
  id: string
  profile_id: string
  profile_name: string
  method: string
  path_pattern: string
  created_at: string
  updated_at: string
}

/** A route as limits see it: its method and the template of its path. */
export interface Endpoint {
  method: string
  path: string
}
