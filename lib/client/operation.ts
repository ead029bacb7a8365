/** How an endpoint is called, and what it returns. */
export type Trait =
  /** How the input is sent, if there is any. */
  | 'query'
  | 'body'
  | 'bytes'
  /** The body is optional. */
  | 'optional'
  /** The kind of response, if it is neither JSON nor empty. */
  | 'session'
  | 'redirect'
  | 'text'
  /** A POST that changes nothing: it is retried when the service is unreachable, as a GET is. */
  | 'read'
  /** The last parameter takes the rest of the path, with slashes. */
  | 'rest'
  /** Ends the session, with a response without content. */
  | 'ends_session'

/** The part of an endpoint that the client needs: its method, its path and its {@link Trait}s. A text takes the least space. */
export type Operation = `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`
