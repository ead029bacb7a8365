import { csrfToken } from '../app/csrf-token.ts'
import type { Operation } from './types.ts'

/** Of an endless or long response, the beginning is shown. */
const MAX_SHOWN = 200_000

/** What was filled in. */
export interface Input {
  /** By the name of the parameter; empty ones are left out. */
  parameters: Readonly<Record<string, string>>
  /** JSON, as it was typed. */
  body: string
}

/** What came back. */
export interface Result {
  status: number
  ms: number
  headers: readonly (readonly [name: string, value: string])[]
  text: string
}

/** The address of a call, without the origin of the service. */
export function pathOf({ path, parameters }: Operation, { parameters: values }: Input): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    name === 'path' ? encodeURI(values[name] ?? '') : encodeURIComponent(values[name] ?? ''),
  )
  const query = new URLSearchParams()
  for (const { name, in: place } of parameters) if (place === 'query' && values[name]) query.set(name, values[name])
  return query.size > 0 ? `${filled}?${query}` : filled
}

/**
 * Calls the endpoint with the session of the browser.
 *
 * @param csrf the cookie and the header of the CSRF token, if one is checked
 * @param onText called with the text so far: an event stream ends with `signal` only
 */
export async function call(
  base: string,
  operation: Operation,
  input: Input,
  { csrf, signal, onText }: { csrf: CsrfNames | undefined; signal: AbortSignal; onText: (result: Result) => void },
): Promise<void> {
  const { method, parameters, requestBody } = operation
  const headers = new Headers()
  for (const { name, in: place } of parameters)
    if (place === 'header' && input.parameters[name]) headers.set(name, input.parameters[name])
  if (requestBody) headers.set('content-type', 'application/json')
  const token = csrf && (cookieOf(csrf.cookie_name) ?? csrfToken())
  if (csrf && token && method !== 'GET') headers.set(csrf.header_name, token)
  const began = performance.now()
  const response = await fetch(base + pathOf(operation, input), {
    method,
    headers,
    credentials: 'include',
    signal,
    ...(requestBody && { body: input.body }),
  })
  const result = {
    status: response.status,
    ms: Math.round(performance.now() - began),
    headers: [...response.headers],
  }
  const isJson = /[/+]json/.test(response.headers.get('content-type') ?? '')
  for await (const text of textsOf(response)) onText({ ...result, text: isJson ? prettyOf(text) : text })
}

/** The names of what protects a session. */
export interface CsrfNames {
  cookie_name: string
  header_name: string
}

/** What has arrived, longer each time. */
async function* textsOf({ body }: globalThis.Response): AsyncGenerator<string> {
  let text = ''
  yield text
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  while (reader) {
    const { done, value } = await reader.read()
    if (done) break
    text += value
    yield text.slice(0, MAX_SHOWN)
    if (text.length > MAX_SHOWN) return void (await reader.cancel())
  }
}

function prettyOf(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2)
  } catch {
    // Not all of it is there yet, or it was too long.
    return text
  }
}

function cookieOf(name: string): string | undefined {
  const pair = document.cookie.split('; ').find((each) => each.startsWith(`${name}=`))
  return pair?.slice(name.length + 1)
}
