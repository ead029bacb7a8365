// The service worker: it keeps the files of the page, so that the page opens without a network. Calls of the API never go
// through it.

/** The files of the build, by their paths below the page; `.ci/build-web.mjs` puts them in. */
declare const FILES: readonly string[]
/** Changes with the files. */
declare const VERSION: string

/** What the types of pages lack: a worker has others. */
interface WorkerScope {
  location: Location
  clients: { claim(): Promise<void> }
  skipWaiting(): Promise<void>
  addEventListener(type: 'install' | 'activate', listener: (event: LifeEvent) => void): void
  addEventListener(type: 'fetch', listener: (event: LoadEvent) => void): void
  addEventListener(type: 'message', listener: (event: MessageEvent) => void): void
}
interface LifeEvent {
  waitUntil(work: Promise<unknown>): void
}
interface LoadEvent {
  request: Request
  respondWith(response: Promise<Response>): void
}

const worker = self as unknown as WorkerScope
const base = new URL('./', worker.location.href)
const kept = `chat-page:${base.pathname}:${VERSION}`
const addresses = new Set(FILES.map((path) => new URL(path, base).href))

worker.addEventListener('install', (event) => {
  event.waitUntil(caches.open(kept).then((cache) => cache.addAll([base.href, ...addresses])))
})

worker.addEventListener('activate', (event) => {
  event.waitUntil(forgetOthers().then(() => worker.clients.claim()))
})

// Pages that are open may still load files of the version before: a page asks when it reloads.
worker.addEventListener('message', ({ data }) => {
  if (data === 'activate') void worker.skipWaiting()
})

worker.addEventListener('fetch', (event) => {
  const { request } = event
  if (request.method !== 'GET') return
  const url = request.url.replace(/[?#].*$/, '')
  if (addresses.has(url)) event.respondWith(cached(url, request))
  else if (request.mode === 'navigate' && url === base.href) event.respondWith(latest(request))
})

/** A file has its hash in its name, or is as good as its version. */
async function cached(url: string, request: Request): Promise<Response> {
  const cache = await caches.open(kept)
  return (await cache.match(url, { ignoreVary: true })) ?? fetch(request)
}

/** The page as the service has it now; without a network, as it was. */
async function latest(request: Request): Promise<Response> {
  const cache = await caches.open(kept)
  try {
    const response = await fetch(request)
    if (response.ok) await cache.put(base.href, response.clone())
    // A proxy whose service is away.
    if (response.status < 502) return response
    return (await cache.match(base.href, { ignoreVary: true })) ?? response
  } catch (error) {
    const known = await cache.match(base.href, { ignoreVary: true })
    if (known) return known
    throw error
  }
}

async function forgetOthers(): Promise<void> {
  const mine = `chat-page:${base.pathname}:`
  const names = (await caches.keys()).filter((each) => each.startsWith(mine) && each !== kept)
  await Promise.all(names.map((each) => caches.delete(each)))
}
