// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'

/** `client.limits`. */
export interface LimitsAdminClient {
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
      /** At least one visible character, or empty */
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
   * Forget the calls of a user or an address.
   *
   * It may call again at once. Name one of the two, as the status shows it.
   *
   * @throws ChatError `validation_failed`
   */
  reset(input: LimitResetOfUser | LimitResetOfAddress, options?: CallOptions): Promise<LimitReset>

  /**
   * List the callers that are throttled now, and how sign-ins went.
   *
   * By the limits that all processes share: what the default limit refuses is not in it, since each process counts
   * that in its memory.
   *
   * @throws ChatError `not_found`, `validation_failed`
   */
  status(
    input?: {
      /** Only what this user has used */
      user_id?: string | undefined
    },
    options?: CallOptions,
  ): Promise<LimitStatus>

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
      /** At least one visible character. If missing it stays; an empty text removes it */
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

/** A rate: `burst` requests at once from rest, then `requests_per_second`. */
export interface LimitRate {
  /** Requests per second after the burst; may be a fraction, such as 0.5 */
  requests_per_second: number
  /** Requests that pass at once after a pause; must refill within a year */
  burst: number
}

/** A profile assigned to a route, or to all routes with a path prefix. */
export interface LimitAssignment {
  id: string
  profile_id: string
  profile_name: string
  method: string
  path_pattern: string
  created_at: string
  updated_at: string
}

/** A route for the limits: its method and its path template. */
export interface Endpoint {
  method: string
  path: string
}

/** The callers that are throttled now, and how sign-ins went. */
export interface LimitStatus {
  /** At most 200, the longest first */
  throttled: Throttled[]
  /** Whether `throttled` has them all */
  is_complete: boolean
  /** How many names of sign-in are locked after failures; at most 10,000 are counted */
  locked_accounts: number
  /** Of the last 24 hours, as far as the newest 100,000 entries of the audit log reach */
  sign_ins: SignInCounts
}

/** A caller whose next call would be refused. */
export interface Throttled {
  /** `sign_in`, or the name of a profile */
  limit: string
  /** The method of the assignment; missing for `sign_in` */
  method?: string
  /** The path of the assignment; missing for `sign_in` */
  path?: string
  user_id?: string
  username?: string
  /** The address of a caller who is not signed in; of IPv6 its network */
  address?: string
  /** When a call is allowed again */
  until: string
}

/** How sign-ins went since an instant. */
export interface SignInCounts {
  since: string
  succeeded: number
  failed: number
  /** Refused without a look at the password */
  throttled: number
}

export interface LimitResetOfUser {
  /** A user */
  user_id: string
}

export interface LimitResetOfAddress {
  /** The address of callers who are not signed in, or its network, as the status shows it */
  address: string
}

/** The result of a reset. */
export interface LimitReset {
  /** The number of forgotten counts */
  reset: number
}
