import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliDecompress, gzip as compress } from 'node:zlib'
import { fillHtml, type Place, webManifest } from './document.ts'
import { type BuiltFile, loadPage } from './page.ts'

/** The forms in which a file can be sent, the smallest first. */
const ENCODINGS = ['br', 'gzip'] as const

/** Files whose name has the hash of their content never change. */
const FOREVER = 'public, max-age=31536000, immutable'

/** A browser asks each time, and gets 304 while nothing has changed. */
const ASK = 'no-cache'

type Bytes = Uint8Array<ArrayBuffer>

/** A file that the page loads. */
interface Resource {
  type: string
  cache: string
  etag: string
  /** Its content by encoding. Without `br` and `gzip` it is only sent as it is. */
  bodies: { identity(): Bytes | Promise<Bytes>; br?(): Bytes; gzip?(): Promise<Bytes> }
}

/** The files of a page by their path. */
export type Resources = ReadonlyMap<string, Resource>

/** @throws Error where the page was not built */
export async function readResources(place: Place): Promise<Resources> {
  const { html, docs, files } = await loadPage()
  return new Map([
    ['/', textOf(fillHtml(html, place), 'text/html; charset=utf-8')],
    ['/docs', textOf(fillHtml(docs, place), 'text/html; charset=utf-8')],
    ['/manifest.webmanifest', textOf(webManifest(place), 'application/manifest+json')],
    ...Object.entries(files).map(([path, file]): [string, Resource] => [path, fileOf(path, file)]),
  ])
}

/** The response to a request for it; 404 without it. `headers` are those of every response. */
export async function answer(
  resource: Resource | undefined,
  { method, headers: requestHeaders }: Request,
  headers: Record<string, string>,
): Promise<Response> {
  const always = { ...headers, ...SECURITY }
  if (!resource) return new Response(null, { status: 404, headers: always })
  if (method !== 'GET' && method !== 'HEAD') {
    return new Response(null, { status: 405, headers: { ...always, allow: 'GET, HEAD' } })
  }
  const { type, cache, etag, bodies } = resource
  const common = { ...always, 'cache-control': cache, etag, vary: 'accept-encoding' }
  if (matches(requestHeaders.get('if-none-match'), etag)) return new Response(null, { status: 304, headers: common })
  const encoding = ENCODINGS.find(
    (encoding) => bodies[encoding] && accepts(requestHeaders.get('accept-encoding'), encoding),
  )
  const body = await bodies[encoding ?? 'identity']!()
  return new Response(method === 'HEAD' ? null : body, {
    headers: {
      ...common,
      'content-type': type,
      'content-length': String(body.length),
      ...(encoding && { 'content-encoding': encoding }),
    },
  })
}

const SECURITY = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

function textOf(text: string, type: string): Resource {
  const identity = new TextEncoder().encode(text)
  return { type, cache: ASK, etag: etagOf(identity), bodies: { identity: () => identity } }
}

/** The package holds the smallest form only; the others are made at the first request for one, once. */
function fileOf(path: string, { type, br: text }: BuiltFile): Resource {
  const br = fromBase64(text)
  let plain: Promise<Bytes> | undefined
  let zipped: Promise<Bytes> | undefined
  const identity = () => (plain ??= inBackground(brotliDecompress, br))
  const gzip = () => (zipped ??= identity().then((bytes) => inBackground(compress, bytes)))
  const cache = path.startsWith('/assets/') ? FOREVER : ASK
  return { type, cache, etag: etagOf(br), bodies: { identity, br: () => br, gzip } }
}

async function inBackground(convert: typeof brotliDecompress, bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await promisify(convert)(bytes))
}

/** Weak: the forms of a content have the same. */
function etagOf(bytes: Uint8Array): string {
  return `W/"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
}

function matches(header: string | null, etag: string): boolean {
  return (header ?? '').split(',').some((tag) => ['*', etag].includes(tag.trim()))
}

/** Whether a client takes an encoding; `q=0` refuses it. */
function accepts(header: string | null, encoding: string): boolean {
  return (header ?? '').split(',').some((entry) => {
    // By a plain text: an expression with the spaces takes the square of their number.
    const [name, ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase())
    return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}
