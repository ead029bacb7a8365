import type { Json } from './schemas.ts'

const text = { type: 'string' }
const count = { type: 'integer', minimum: 0 }

/** Every response header that callers may read, with its description. */
const HEADERS = {
  'X-Request-Id': ['Names this call in the logs; one that was sent along is kept.', text],
  'Stream-Position': [
    "Where the conversation's event stream stood at this read: open it with this as `Last-Event-ID`.",
    text,
  ],
  'Idempotency-Replayed': [
    'The post was made before, under the same `Idempotency-Key`; this is its answer.',
    { type: 'string', enum: ['true'] },
  ],
  'X-Session-Rotated': [
    'The cookies of a new session, or new ones of the same session, come along.',
    { type: 'string', enum: ['1'] },
  ],
  'Set-Cookie': ['A cookie to keep, or to forget; one header for each.', text],
  'RateLimit-Limit': ['How many calls the limit that counted lets through at once.', count],
  'RateLimit-Remaining': ['How many of them are left.', count],
  'RateLimit-Reset': ['Seconds until all of them are available again.', count],
  'X-RateLimit-Profile': ['The name of that limit.', text],
  'Retry-After': ['Seconds to wait before trying again.', count],
  'X-Should-Retry': ['The same call would fail again.', { type: 'string', enum: ['false'] }],
  Allow: ['The methods of this path.', text],
  Location: ['The URL that the browser is redirected to.', text],
  'Cache-Control': ['Whether a cache may store the answer: never without asking.', text],
  'Accept-Ranges': ['Parts of the file can be asked for.', { type: 'string', enum: ['bytes'] }],
  'Content-Disposition': ['Whether a browser saves the file or shows it, and its name.', text],
  'Content-Range': ['Which bytes of how many these are.', text],
  ETag: ['Names these bytes.', text],
  'Last-Modified': ['When the file was uploaded.', text],
  'X-Accel-Buffering': ['Proxies must not buffer events.', { type: 'string', enum: ['no'] }],
  'X-Vercel-AI-UI-Message-Stream': ["The version of the AI SDK's UI message stream.", { type: 'string', enum: ['v1'] }],
} as const satisfies Record<string, readonly [description: string, schema: object]>

/** The name of a response header. */
export type HeaderName = keyof typeof HEADERS

/** Missing without a limit, and for a call that was refused before limits are checked. */
export const LIMIT_HEADERS: HeaderName[] = [
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'X-RateLimit-Profile',
]

/** The headers of a response: those it always has, and those it may have. */
export function headersOf(always: HeaderName[], maybe: HeaderName[] = []): Json {
  const entries = (names: HeaderName[], required: boolean) =>
    names.map((name) => [name, { $ref: `#/components/headers/${componentOf(name, required)}` }])
  return Object.fromEntries([...entries(['X-Request-Id', ...always], true), ...entries(maybe, false)])
}

/** The headers that a part of the document refers to, by the name of their component. */
export function namedHeadersIn(part: unknown): Json {
  const used = new Set([...JSON.stringify(part).matchAll(/#\/components\/headers\/([\w-]+)/g)].map(([, name]) => name!))
  const all = Object.entries(HEADERS).flatMap(([name, [description, schema]]) =>
    [true, false].map((required) => [
      componentOf(name as HeaderName, required),
      { description, ...(required && { required }), schema },
    ]),
  )
  return Object.fromEntries(all.filter(([name]) => used.has(name as string)))
}

function componentOf(name: HeaderName, required: boolean): string {
  return required ? name : `Optional-${name}`
}
