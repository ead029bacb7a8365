import { BlockList, isIPv4 } from 'node:net'

/** Whether a host, as a URL has it or without brackets, is this machine only: `localhost`, 127.0.0.0/8 or ::1. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '')
  return bare === 'localhost' || bare === '::1' || (isIPv4(bare) && bare.startsWith('127.'))
}

/** Whether a name is `localhost` or below it (RFC 6761, section 6.3). */
export function isLocalhostName(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost')
}

/** Whether browsers connect to this machine for a host of a URL. */
export function isThisMachine(host: string): boolean {
  return isLoopback(host) || isLocalhostName(host)
}

/** @param ranges addresses, and ranges in CIDR notation */
export function toBlockList(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', prefix] = range.split('/')
    const family = isIPv4(address) ? 'ipv4' : 'ipv6'
    list.addSubnet(address, prefix === undefined ? (family === 'ipv4' ? 32 : 128) : Number(prefix), family)
  }
  return list
}

const GROUP = '[0-9a-fA-F]{1,4}'
const GROUPS = `${GROUP}(:${GROUP})*`
const IPV4 = '((25[0-5]|(2[0-4]|1\\d|[1-9]?)\\d)(\\.(?!$)|$)){4}'
/** Eight groups, or up to seven with a `::` among them; none of them in decimals. */
const IPV6 = `(${GROUP}:){7}${GROUP}|(?!(:*\\w+\\b){8})(${GROUPS})?::(${GROUPS})?`

/** The pattern of an IP address without a zone, and of the network of an IPv6 address. */
export const ADDRESS_OR_NETWORK = new RegExp(`^(${IPV4}|(${IPV6})(/64)?)$`)
