/**
 * The errors of the authorization server, as clients read them: RFC 6749 (sections 4.1.2.1 and 5.2), RFC 8707 for
 * `invalid_target`, RFC 7591 for those of a registration.
 */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unsupported_grant_type'
  | 'invalid_target'
  | 'temporarily_unavailable'
  | 'invalid_redirect_uri'
  | 'invalid_client_metadata'

/** A client that has not proven who it is gets 401; what is wrong with a request is 400 (RFC 6749, section 5.2). */
const STATUSES: Partial<Record<OAuthErrorCode, number>> = {
  invalid_client: 401,
  temporarily_unavailable: 503,
}

/** A failure that a client of the authorization server reads, in the form of OAuth instead of that of the API. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError'
  readonly error: OAuthErrorCode
  readonly status: number

  /** @param description sent to the client: no secret, no token, and nothing of what the client has sent */
  constructor(error: OAuthErrorCode, description: string = error, status: number = STATUSES[error] ?? 400) {
    super(description)
    this.error = error
    this.status = status
  }

  /** The body of the response. */
  toJSON(): { error: OAuthErrorCode; error_description: string } {
    return { error: this.error, error_description: this.message }
  }
}
