import { ChatError } from '../core/chat-error.ts'
import { readCookies } from '../core/headers.ts'
import { readError } from './errors.ts'
import type { Tokens } from './tokens.ts'
import type { ClientOptions } from './types.ts'

/** The parts that differ between requests. */
interface RequestInit {
  body?: unknown
  /** A body of bytes instead of JSON. */
  bytes?: Blob
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
  keepalive?: boolean
  /** In place of the `fetch` of the client. */
  send?: typeof fetch
}

/** Sends requests as one caller: with the API key, or with the session's cookies and CSRF token. */
export interface Requester {
  /** @throws ChatError the failure in the response */
  request(method: string, path: string, init?: RequestInit): Promise<Response>
  /** Makes the next request ask for another token; missing where the client has no `token`. */
  renewToken?: (() => Promise<void>) | undefined
  /** Stores the CSRF token of a sign-in; `undefined` deletes it. */
  setCsrfToken(token: string | undefined): void
}

export function createRequester(options: ClientOptions): Requester {
  if (typeof options?.base_url !== 'string')
    throw new TypeError("A client needs { base_url: 'https://example.org/chat' }")
  if (options.fetch && typeof options.fetch !== 'function') throw new TypeError('The option "fetch" must be a function')
  const { api_key, csrf_cookie_name = 'CSRF-TOKEN', csrf_header_name = 'X-CSRF-TOKEN' } = options
  if (options.token && api_key !== undefined)
    throw new TypeError('The options "token" and "api_key" exclude each other')
  let tokens: Promise<Tokens> | undefined
  const send = options.fetch ?? fetch
  const base = options.base_url.replace(/\/$/, '')
  // `fetch` would fail as if the service were unreachable, again and again. React Native has no `URL.canParse`.
  const isRelative = !options.fetch && !globalThis.location && !/^https?:\/\//i.test(base)
  // Browsers store cookies themselves and do not show them to scripts.
  const jar = new Map<string, string>()
  let csrf_token = options.csrf_token

  function csrfToken(): string | undefined {
    return (
      jar.get(csrf_cookie_name) ??
      (typeof document === 'undefined' ? undefined : readCookies(document.cookie).get(csrf_cookie_name)) ??
      csrf_token
    )
  }

  async function findBearer(): Promise<string | undefined> {
    if (!options.token) return api_key
    // Loaded by pages that have one.
    tokens ??= import('./tokens.ts').then(({ createTokens }) => createTokens(options.token!))
    return (await tokens).get()
  }

  async function request(method: string, path: string, init: RequestInit = {}, isAgain = false): Promise<Response> {
    if (isRelative)
      throw new ChatError('bad_request', {
        status: 400,
        message: `Outside a page, base_url must be a whole URL, not "${base}"`,
      })
    const headers: Record<string, string> = { ...init.headers }
    const bearer = await findBearer()
    if (bearer !== undefined) headers.authorization = `Bearer ${bearer}`
    else if (jar.size > 0) headers.cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const token = bearer === undefined ? csrfToken() : undefined
    if (method !== 'GET' && token) headers[csrf_header_name] = token
    if (init.bytes) headers['content-type'] = 'application/octet-stream'
    else if (init.body !== undefined) headers['content-type'] = 'application/json'
    const response = await (init.send ?? send)(base + path, {
      method,
      headers,
      credentials: bearer === undefined ? 'include' : 'omit',
      ...(init.body !== undefined && { body: await toJson(init.body) }),
      ...(init.bytes && { body: init.bytes }),
      ...(init.signal && { signal: init.signal }),
      keepalive: !!init.keepalive,
    })
    if (response.status === 401 && tokens && bearer !== undefined) {
      await (await tokens).refuse(bearer)
      if (!isAgain) {
        await response.body?.cancel()
        return request(method, path, init, true)
      }
    }
    const cookies = response.headers.getSetCookie?.() ?? []
    // Loaded outside of browsers, which show no cookies.
    if (cookies.length > 0) (await import('./cookies.ts')).keepCookies(jar, cookies)
    if (!response.ok) throw await readError(response)
    return response
  }

  return {
    request,
    ...(options.token && { renewToken: async () => (await tokens)?.refuse() }),
    setCsrfToken(token) {
      csrf_token = token
    },
  }
}

/** As JSON, in which a number that is not finite would become `null`. @throws ChatError `validation_failed` that names its place */
async function toJson(body: unknown): Promise<string> {
  let areFinite = true
  const json = JSON.stringify(body, (_, value: unknown) => {
    areFinite &&= typeof value !== 'number' || Number.isFinite(value)
    return value
  })
  if (!areFinite) (await import('./infinite.ts')).refuseInfinite(body)
  return json
}
