import { isIPv4, isIPv6, SocketAddress } from 'node:net'
import type { Config } from '../config/parse.ts'
import type { Log } from '../context.ts'
import { toBlockList } from '../core/addresses.ts'
import { warnOnce } from '../core/once.ts'

/** Finds out where a call came from. */
export type AddressReader = (peer: string | undefined, forwarded: string | null) => string | undefined

/** Finds out which client a request came from. */
export type ClientReader = (request: Request & { ip?: string | undefined }) => string | undefined

/**
 * Reads the address of the client of a request. Limits by address take all requests without one for the same client; the
 * log says so once.
 *
 * @param addressOf the address that a request came from, where the host knows it better than the runtime
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

const NO_ADDRESS =
  'A request came without an address: all such requests share the limits of one client, that of sign-ins included. Set request.ip, or give createChatApp an addressOf.'

/** How far a chain of proxies is followed; nobody has more of them. */
const MAX_HOPS = 32

/**
 * Reads the address of a client from that of its peer and from `X-Forwarded-For`.
 *
 * Each proxy adds the address it was called from at the right. So the header is read from there, as long as the address
 * before is one of our proxies': what stands further left was sent by the client, which may write what it likes.
 *
 * @param trusted addresses and ranges in CIDR notation, as in `server.trusted_proxies`
 */
export function createAddressReader(trusted: readonly string[]): AddressReader {
  const proxies = toBlockList(trusted)
  const isProxy = (address: string) => proxies.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')

  return (peer, forwarded) => {
    let address = toAddress(peer ?? '')
    if (address === undefined || forwarded === null || trusted.length === 0) return address
    for (const hop of hopsOf(forwarded)) {
      if (!isProxy(address)) return address
      const before = toAddress(withoutPort(hop))
      // Our own proxy passed on what is no address: all that is known is that it came from there.
      if (before === undefined) return address
      address = before
    }
    return address
  }
}

/** An address in one of its spellings: IPv6 compressed and in lower case, without a zone, IPv4 in IPv6 as IPv4. */
export function toAddress(text: string): string | undefined {
  if (isIPv4(text)) return text
  const bare = text.replace(/%.*$/s, '')
  if (!isIPv6(bare)) return undefined
  const { address } = new SocketAddress({ address: bare, family: 'ipv6' })
  const mapped = address.replace(/^::ffff:/, '')
  return isIPv4(mapped) ? mapped : address
}

/** What the header lists, the last hop first. */
function hopsOf(forwarded: string): string[] {
  const hops = forwarded.split(',').map((hop) => hop.trim())
  return hops
    .filter((hop) => hop !== '')
    .slice(-MAX_HOPS)
    .reverse()
}

/** `192.0.2.1:4711`, `[2001:db8::1]:4711` and `[2001:db8::1]` are written by some proxies. */
function withoutPort(hop: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(hop) ?? []
  return bracketed ?? plain ?? hop
}
