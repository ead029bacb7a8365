import { type BlockList, isIP, isIPv4, isIPv6 } from 'node:net'
import { isLocalhostName, toBlockList } from '../core/addresses.ts'
import { MAX_LENGTH } from '../core/lengths.ts'
import { parseUrl } from '../core/url.ts'

/** Special addresses of IPv4: the registry of IANA, multicast and all after it, and the host of virtual machines on Azure. */
const REFUSED_V4 = toBlockList([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24', '192.168.0.0/16', '192.175.48.0/24'],
  ...['198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/3', '168.63.129.16'],
])

/** The addresses of IPv6 that are assigned to the network of all. */
const GLOBAL_V6 = toBlockList(['2000::/3'])

/** Parts of that with another purpose: protocols, documentation, and 6to4, which leads to any IPv4 address. */
const REFUSED_V6 = toBlockList(['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'])

/** Whether an IP address may be called. */
export type Judge = (address: string) => boolean

/** @param allowed addresses that may be called, too */
export function createJudge(allowed: readonly string[]): Judge {
  const opened = toBlockList(allowed)
  return (address) => {
    const plain = toPlainAddress(address)
    return plain !== undefined && (includes(opened, plain) || isPublicAddress(plain))
  }
}

function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !REFUSED_V4.check(address, 'ipv4')
  return GLOBAL_V6.check(address, 'ipv6') && !REFUSED_V6.check(address, 'ipv6')
}

function includes(list: BlockList, address: string): boolean {
  return list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
}

/**
 * An IPv4 address for an IPv6 address that leads there: `::ffff:0:0/96`, and `64:ff9b::/96` (NAT64, RFC 6052). Any other is
 * returned as it is; `undefined` for none, and for one with a zone, which is of this network only.
 */
function toPlainAddress(address: string): string | undefined {
  if (isIPv4(address)) return address
  if (!isIPv6(address) || address.includes('%')) return undefined
  const groups = groupsOf(address)
  const prefix = groups.slice(0, 6).join(':')
  if (prefix !== '0:0:0:0:0:ffff' && prefix !== '64:ff9b:0:0:0:0') return address
  return groups
    .slice(6)
    .map((group) => Number.parseInt(group, 16))
    .flatMap((group) => [group >> 8, group & 255])
    .join('.')
}

/** The eight groups of an IPv6 address, in lower case and without leading zeros. */
function groupsOf(address: string): string[] {
  // A URL writes decimals in hexadecimals.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const [first, last] = [head, tail ?? ''].map((part) => (part === '' ? [] : part.split(':')))
  const missing = tail === undefined ? 0 : 8 - first!.length - last!.length
  return [...first!, ...Array.from({ length: missing }, () => '0'), ...last!]
}

/** What decides whether a URL is one to call. */
export interface UrlRules {
  allow_http: boolean
  /** `undefined` for all. */
  ports: readonly number[] | undefined
  judge: Judge
  /** The address below which clients reach this service, if it is known. */
  own_url: string | undefined
}

/** A URL with what a connection needs. */
export interface Target {
  /** The name without a dot at its end, or an IP address without brackets. */
  host: string
  port: number
  is_secure: boolean
  /** The `Host` of the request. */
  authority: string
  path: string
}

/** The target of a URL; `undefined` if it is not one to call, whatever the addresses of its name. */
export function toTarget(address: string, { allow_http, ports, judge, own_url }: UrlRules): Target | undefined {
  const url = parse(address)
  if (url === undefined || (url.protocol !== 'https:' && !allow_http)) return undefined
  const port = portOf(url)
  if (ports && !ports.includes(port)) return undefined
  const host = hostOf(url)
  if (host === '' || isOwn(url, own_url)) return undefined
  if ((fixedAddressesOf(host) ?? []).some((fixed) => !judge(fixed))) return undefined
  return { host, port, is_secure: url.protocol === 'https:', authority: url.host, path: url.pathname + url.search }
}

/** The addresses of a host that no other machine is asked for: an address has itself, `localhost` those of this machine. */
export function fixedAddressesOf(host: string): string[] | undefined {
  if (isIP(host)) return [host]
  // Resolvers must not ask for it (RFC 6761, section 6.3).
  return isLocalhostName(host) ? ['127.0.0.1'] : undefined
}

/** `URL` drops white space, takes `\` for `/`, and forgets an empty user and an empty fragment. */
function parse(address: string): URL | undefined {
  if (address.length > MAX_LENGTH.url || !/^https?:\/\/[^/?@\\#\s\p{Cc}][^\\#\s\p{Cc}]*$/iu.test(address))
    return undefined
  return /^[^/]*\/\/[^/?]*@/.test(address) ? undefined : parseUrl(address)
}

function portOf(url: URL): number {
  return url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$|\.+$/g, '')
}

/** Whether a URL is of this service: of its host and port, and below its path. */
function isOwn(url: URL, own: string | undefined): boolean {
  if (own === undefined) return false
  const service = new URL(own)
  const path = service.pathname.replace(/\/+$/, '')
  return (
    hostOf(url) === hostOf(service) &&
    portOf(url) === portOf(service) &&
    (url.pathname === path || url.pathname.startsWith(`${path}/`))
  )
}
