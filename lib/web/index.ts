import { type NamesOf, refuseUnknown } from '../core/known-names.ts'
import { assertBrand, BRAND, type WebBrand } from './brand.ts'
import { contentPolicy, parseApi, parseBase } from './document.ts'
import { answer, type Resources, readResources } from './resources.ts'

export type { WebBrand, WebColors } from './brand.ts'

/** Where the page is, where it finds the service, and how it looks. */
export interface WebChatOptions {
  /** The path below which the page is served, such as `/chat`. Default: the root. */
  base?: string
  /** The URL of the service, with its base path. Default: `base`. */
  api?: string
  brand?: WebBrand
}

const WEB_CHAT_OPTIONS: NamesOf<WebChatOptions> = { base: 0, api: 0, brand: BRAND }

/** The web chat for a server. */
export interface WebChat {
  /**
   * Serves the page and its files by GET and HEAD: 405 to every other method, 404 for every other path.
   *
   * @param options.photos the origins of photos that the page may show besides the service, as in `avatars.hosts`
   */
  fetch(request: Request, options?: { photos?: readonly string[] }): Promise<Response>
  /** What it serves below `base`; with `**` everything that begins so. */
  readonly paths: readonly string[]
}

/** What the page consists of. Its own addresses are behind `#`. */
const PATHS = [
  '/',
  '/docs',
  '/assets/**',
  '/manifest.webmanifest',
  '/icon.svg',
  '/icon-192.png',
  '/icon-512.png',
  '/icon-maskable.png',
  '/sw.js',
] as const

/**
 * The web chat: conversations, threads and answers of the assistant in the browser; below it, at `/docs`, the API. Nothing is loaded before the first
 * request.
 *
 * @throws TypeError for an invalid path, color or address, and for an unknown option
 * @example
 * const web = createWebChat({ base: '/chat', brand: { name: 'Acme', sign_in_url: '/login' } })
 * const server = await serve(chat, { web })
 */
export function createWebChat(options: WebChatOptions = {}): WebChat {
  refuseUnknown('createWebChat', options, WEB_CHAT_OPTIONS)
  const { base = '', api = base, brand = {} } = options
  const place = { base: parseBase(base), api: parseApi(api), brand: assertBrand(brand) }
  let resources: Promise<Resources> | undefined
  return {
    paths: PATHS,
    async fetch(request, { photos } = {}) {
      const security = { 'content-security-policy': contentPolicy(place.api, photos) }
      resources ??= readResources(place)
      const { pathname } = new URL(request.url)
      const isBelow = place.base !== '' && (pathname === place.base || pathname.startsWith(`${place.base}/`))
      const path = isBelow ? pathname.slice(place.base.length) || '/' : pathname
      return answer((await resources).get(path), request, security)
    },
  }
}

/** Whether the package has the page: a clone that was installed without development packages has none. */
export async function hasWebChat(): Promise<boolean> {
  return (await import('./page.ts')).isBuilt()
}
