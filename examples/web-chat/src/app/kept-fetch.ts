import type { Snapshot } from './snapshot.ts'

/** What is kept as it was read. Lists and threads are kept as they are shown: what has changed since comes by the stream. */
const READ = /^\/api\/(features|assistants|auth\/me|conversations\/[\w-]+\/(participants|unread))$/

/** What is taken from the snapshot: besides those, the first page of lists and threads. */
const SHOWN = /^\/api\/(conversations|conversations\/[\w-]+\/(threads|messages)|threads\/[\w-]+\/(messages|tree))$/

/** What a further page is read by. */
const FURTHER = ['after', 'before', 'around', 'cursor_path']

const ME = '/api/auth/me'

/** Responses to a user who may not see it, or not any more. */
const GONE = [403, 404]

/** Responses of a proxy whose service is away. */
const AWAY = [502, 503, 504]

/**
 * Sends requests to the service; while it is away, what was seen is the response.
 *
 * @param base the URL of the service
 */
export function createKeptFetch(base: string, snapshot: Snapshot): typeof fetch {
  return async (input, init) => {
    const key = keyOf(base, String(input), init?.method)
    if (key === undefined) return fetch(input, init)
    const clears = snapshot.clears()
    const response = await fetch(input, init).catch((error: unknown) => error)
    if (response instanceof Response && !AWAY.includes(response.status)) {
      if (response.ok && READ.test(key)) {
        const text = await response.clone().text()
        // In the order of the snapshot: nothing that is read or kept from now on is before it.
        if (key === ME) void snapshot.clearUnless(ME, (known) => idOf(known) === idOf(text))
        // Read for a session that has ended meanwhile, it is not kept.
        if (!key.startsWith('/api/conversations') || clears === snapshot.clears()) void snapshot.keep(key, text)
      }
      if (key === ME && response.status === 401) void snapshot.clear()
      // It is deleted, or the user may see it no longer: nothing of it is shown again.
      const id = GONE.includes(response.status)
        ? /\/([\w-]+)\/(?:participants|unread|threads|messages|tree)$/.exec(key)?.[1]
        : undefined
      if (id !== undefined) void snapshot.forget(id)
      return response
    }
    const text = await snapshot.find(key)
    if (text !== undefined) return new Response(text, { headers: { 'content-type': 'application/json' } })
    if (response instanceof Response) return response
    throw response
  }
}

/** The path of something that may be in the snapshot. */
function keyOf(base: string, address: string, method = 'GET'): string | undefined {
  const { pathname, searchParams } = new URL(address)
  const path = pathname.slice(new URL(base).pathname.replace(/\/$/, '').length)
  const isFirst = !FURTHER.some((name) => searchParams.has(name))
  const isKept = READ.test(path) || (SHOWN.test(path) && searchParams.get('archived') !== 'true')
  return method === 'GET' && isFirst && isKept ? path : undefined
}

function idOf(text: string): string {
  return (JSON.parse(text) as { user: { id: string } }).user.id
}
