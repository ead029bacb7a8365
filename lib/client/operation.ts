/** The part of an endpoint that the client needs. */
export interface Operation {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  /** How the input is sent, if there is any. */
  input?: 'query' | 'body' | 'bytes'
  /** Whether the body is optional. */
  is_optional?: true
  /** The kind of response, if it is neither JSON nor empty. */
  answer?: 'session' | 'redirect' | 'text' | 'stream'
  /** A POST that changes nothing: it is retried when the service is unreachable, as a GET is. */
  is_read?: true
  /** Whether the last parameter takes the rest of the path, with slashes. */
  takes_rest?: true
  /** Ends the session, with a response without content. */
  ends_session?: true
}
