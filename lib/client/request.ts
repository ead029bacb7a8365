import { ChatError } from '../core/chat-error.ts'
import { readCookies } from '../core/headers.ts'
import { readError } from './errors.ts'
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
  /** Stores the CSRF token of a sign-in; `undefined` deletes it. */
  setCsrfToken(token: string | undefined): void
}

export function createRequester(options: ClientOptions): Requester {
  if (typeof options?.base_url !== 'string')
    throw new TypeError("A client needs { base_url: 'https://example.org/chat' }")
  if (options.fetch && typeof options.fetch !== 'function') throw new TypeError('The option "fetch" must be a function')
  const { api_key, csrf_cookie_name = 'CSRF-TOKEN', csrf_header_name = 'X-CSRF-TOKEN' } = options
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

  async function request(method: string, path: string, init: RequestInit = {}): Promise<Response> {
    if (isRelative)
      throw new ChatError('bad_request', {
        status: 400,
        message: `Outside a page, base_url must be a whole URL, not "${base}"`,
      })
    const headers: Record<string, string> = { ...init.headers }
    if (api_key !== undefined) headers.authorization = `Bearer ${api_key}`
    else if (jar.size > 0) headers.cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const token = api_key === undefined ? csrfToken() : undefined
    if (method !== 'GET' && token) headers[csrf_header_name] = token
    if (init.bytes) headers['content-type'] = 'application/octet-stream'
    else if (init.body !== undefined) headers['content-type'] = 'application/json'
    const response = await (init.send ?? send)(base + path, {
      method,
      headers,
      credentials: api_key === undefined ? 'include' : 'omit',
      ...(init.body !== undefined && { body: toJson(init.body) }),
      ...(init.bytes && { body: init.bytes }),
      ...(init.signal && { signal: init.signal }),
      keepalive: !!init.keepalive,
    })
    for (const cookie of response.headers.getSetCookie?.() ?? []) keepCookie(jar, cookie)
    if (!response.ok) throw await readError(response)
    return response
  }

  return {
    request,
    setCsrfToken(token) {
      csrf_token = token
    },
  }
}

/** As JSON, in which a number that is not finite would become `null`. @throws ChatError `validation_failed` that names its place */
function toJson(body: unknown): string {
  const paths = new Map<unknown, string>()
  return JSON.stringify(body, function (this: unknown, key, value: unknown) {
    const path = [paths.get(this), key].filter(Boolean).join('.')
    if (typeof value === 'object' && value !== null) paths.set(value, path)
    if (typeof value === 'number' && !Number.isFinite(value))
      throw new ChatError('validation_failed', {
        status: 422,
        message: 'A value is not valid.',
        errors: [{ path, message: 'must be a finite number' }],
      })
    return value
  })
}

function keepCookie(jar: Map<string, string>, cookie: string): void {
  const [pair = '', ...attributes] = cookie.split(';')
  const name = pair.slice(0, pair.indexOf('='))
  if (attributes.some((attribute) => attribute.trim().toLowerCase() === 'max-age=0')) jar.delete(name)
  else jar.set(name, pair.slice(name.length + 1))
}
