import { isIPv4, isIPv6, SocketAddress } from 'node:net'
import type { Config } from '../../config/parse.ts'
import type { Log } from '../../context.ts'
import { toBlockList } from '../../core/addresses.ts'
import { warnOnce } from '../../core/scheduling/once.ts'

/** Returns the address of a call's client. */
export type AddressReader = (peer: string | undefined, forwarded: string | null) => string | undefined

/** Returns the client of a request. */
export type ClientReader = (request: Request & { ip?: string | undefined }) => string | undefined

/**
 * Reads the address of the client of a request. Requests without an address share one limit; the log warns once.
 *
 * @param addressOf the address of a request, if the host knows it better than the runtime
 */
export function createClientReader(
  { server }: Config,
  log: Log,
  addressOf: (request: Request) => string | undefined = (request) => (request as { ip?: string }).ip,
): ClientReader {
  const read = createAddressReader(server.trusted_proxies)
  const warn = warnOnce(() => log.warn(NO_ADDRESS))
  return (request) => {
    const address = read(addressOf(request), request.headers.get('x-forwarded-for'))
    if (address === undefined) warn()
    return address
  }
}

/**
 * What stands for the address of a peer on a Unix domain socket. By the permissions of the file, only a proxy on this
 * machine connects: it counts as one of the trusted proxies.
 */
export const SOCKET_PEER = 'unix'

const NO_ADDRESS =
  'A request came without an address: all such requests share the limits of one client, that of sign-ins included. Set request.ip, or give createChatApp an addressOf.'

/** The maximum number of proxies to follow; no real chain is longer. */
const MAX_HOPS = 32

/**
 * Reads the address of a client from that of its peer and from `X-Forwarded-For`.
 *
 * Each proxy appends the address of its client. So the header is read from the end, as long as the previous address is
 * a trusted proxy: the client wrote everything before that and may have forged it.
 *
 * @param trusted addresses and ranges in CIDR notation, as in `server.trusted_proxies`
 */
export function createAddressReader(trusted: readonly string[]): AddressReader {
  const proxies = toBlockList(trusted)
  const isProxy = (address: string) => proxies.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')

  return (peer, forwarded) => {
    const isLocal = peer === SOCKET_PEER
    let address = toAddress(peer ?? '')
    if (forwarded === null || (isLocal ? false : address === undefined || trusted.length === 0)) return address
    for (const hop of hopsOf(forwarded)) {
      if (address !== undefined && !isProxy(address)) return address
      const before = toAddress(withoutPort(hop))
      // A trusted proxy passed on an invalid address: only the proxy itself is known.
      if (before === undefined) return address
      address = before
    }
    return address
  }
}

/** The normal form of an address: IPv6 compressed and in lower case, without a zone, IPv4 in IPv6 as IPv4. */
export function toAddress(text: string): string | undefined {
  if (isIPv4(text)) return text
  const bare = text.replace(/%.*$/s, '')
  if (!isIPv6(bare)) return undefined
  const { address } = new SocketAddress({ address: bare, family: 'ipv6' })
  const mapped = address.replace(/^::ffff:/, '')
  return isIPv4(mapped) ? mapped : address
}

/** The addresses of the header, the last hop first. */
function hopsOf(forwarded: string): string[] {
  const hops = forwarded.split(',').map((hop) => hop.trim())
  return hops
    .filter((hop) => hop !== '')
    .slice(-MAX_HOPS)
    .reverse()
}

/** Some proxies write `192.0.2.1:4711`, `[2001:db8::1]:4711` or `[2001:db8::1]`. */
function withoutPort(hop: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(hop) ?? []
  return bracketed ?? plain ?? hop
}
