/** What the client has to know of an endpoint. */
export interface Operation {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  /** What the input is sent as, if it takes one. */
  input?: 'query' | 'body'
  /** Whether the body may be left out. */
  is_optional?: true
  /** What comes back, unless it is JSON or nothing. */
  answer?: 'session' | 'redirect' | 'text' | 'stream'
  /** A call that changes nothing is made again when the service cannot be reached. */
  is_read?: true
  /** Whether the last parameter takes all that is left of the path, slashes included. */
  takes_rest?: true
  /** Ends the session, with an answer without content. */
  ends_session?: true
}
