import * as v from 'valibot'
import { parseUrl } from '../core/url.ts'
import { basePath } from './base-path.ts'
import { flag, integer, key, MAX_TIMER_SECONDS, reloadableKey, section, someText, text } from './key.ts'
import { rangeList } from './ranges.ts'

/** Scheme, host and port; a URL would also take `*` for a host. */
const ORIGIN = /^https?:\/\/(\[[0-9a-f:]+\]|[0-9a-z._-]+)(:\d+)?$/

/** Compared character by character with what browsers send, so only the exact form matches. */
const ORIGINS_FORM =
  'must have origins as browsers send them, https://app.example.org or http://localhost:3000: no path, no *, no default port'

/** An `http` or `https` URL. */
export const publicUrl = v.pipe(
  text,
  v.check(isPublicUrl, 'must be an http:// or https:// address without credentials, query or fragment'),
)
const originList = v.array(
  v.pipe(v.string(ORIGINS_FORM), v.toLowerCase(), v.check(isOrigin, ORIGINS_FORM)),
  'must be a list of texts',
)

const TOKEN_ORIGINS_FORM =
  'must have * or origins as browsers send them, https://app.example.org: no path, no default port'
const tokenOriginList = v.array(
  v.pipe(
    v.string(TOKEN_ORIGINS_FORM),
    v.toLowerCase(),
    v.check((origin) => origin === '*' || isOrigin(origin), TOKEN_ORIGINS_FORM),
  ),
  'must be a list of texts',
)

/** The address of the service, the proxies in front of it, and its timeouts. */
export const ServerSection = section({
  host: key(someText, '127.0.0.1', 'Address to listen on. The default is reachable only from the same machine.'),
  port: key(integer(0, 65_535), 8080, 'Port to listen on; 0 picks a free one.'),
  socket: key(
    v.pipe(text, v.check(isSocketPath, 'must be a path of at most 100 bytes without a line break')),
    undefined,
    'Path of a Unix domain socket to listen on instead of a port, for a proxy on this machine, whose X-Forwarded-For is trusted.',
  ),
  socket_mode: key(
    v.pipe(text, v.regex(/^0?[0-7]{3}$/, 'must be three digits from 0 to 7, such as 660')),
    '660',
    'Permissions of the socket; a user who may write it may connect.',
  ),
  public_url: key(publicUrl, undefined, 'Public URL of the service, if it differs from the listen address.'),
  base_path: key(
    basePath,
    undefined,
    'Path below which a host or a proxy has the service, such as /chat: its links have it, and requests may come with or without it. Default: the path of server.public_url.',
  ),
  web: key(
    flag,
    undefined,
    'Whether the service has the web chat at its root. serve shows it unless this is false; a host that shows it itself sets true.',
  ),
  trusted_proxies: key(
    rangeList,
    [] as string[],
    'Addresses and ranges (CIDR) of proxies whose X-Forwarded-For is trusted; from all others it is ignored.',
  ),
  max_connections: key(
    integer(1, 1_000_000),
    10_000,
    'Concurrent connections, open streams included; further ones are closed at once. Each takes a file descriptor.',
  ),
  max_header_bytes: key(
    integer(4096, 1_048_576),
    16_384,
    'Maximum size of request line and headers, cookies included; 431 beyond.',
    { unit: 'bytes' },
  ),
  headers_timeout_seconds: key(
    integer(1, MAX_TIMER_SECONDS),
    10,
    'How long a client may take to send its headers; 408 beyond.',
    { unit: 'seconds' },
  ),
  request_timeout_seconds: key(
    integer(1, MAX_TIMER_SECONDS),
    30,
    'How long a client may take to send a whole request; 408 beyond. It does not limit responses such as streams.',
    { unit: 'seconds' },
  ),
  keep_alive_timeout_seconds: key(
    integer(1, MAX_TIMER_SECONDS),
    5,
    'How long an idle connection stays open. Set it longer than the keep-alive of your proxy.',
    { unit: 'seconds' },
  ),
  stalled_seconds: key(
    integer(1, MAX_TIMER_SECONDS),
    30,
    'A connection that reads nothing of a waiting response, or of the missed events of a stream, for this time is closed. At sse.max_streams_per_user, an open stream whose client reads nothing for this time gives its place to a new one.',
    { unit: 'seconds' },
  ),
  drain_delay_seconds: key(
    integer(0, 3600),
    0,
    'How long /readyz returns 503 before the service stops accepting requests: the time your load balancer needs to notice.',
    { unit: 'seconds' },
  ),
  cors: section({
    allowed_origins: reloadableKey(
      originList,
      [] as string[],
      'Other origins (https://app.example.org) whose pages may call the service as their signed-in user.',
    ),
    token_origins: reloadableKey(
      tokenOriginList,
      [] as string[],
      'Other origins, or *, whose pages may call the service with a token: their cookies do not count.',
    ),
  }),
})

function isOrigin(text: string): boolean {
  return ORIGIN.test(text) && parseUrl(text)?.origin === text
}

function isPublicUrl(address: string): boolean {
  const url = parseUrl(address)
  return url !== undefined && /^https?:$/.test(url.protocol) && !url.username && !url.password && !/[?#]/.test(address)
}

/** The system takes paths of 107 bytes, some systems of 103. */
function isSocketPath(path: string): boolean {
  return path.length > 0 && Buffer.byteLength(path) <= 100 && !/[\0\r\n]/.test(path)
}
