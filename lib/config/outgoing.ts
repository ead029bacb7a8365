import * as v from 'valibot'
import { parseUrl } from '../core/url.ts'
import { flag, integer, reloadableKey as key, section, text } from './key.ts'
import { rangeList } from './ranges.ts'

const MAX_NETWORKS = 100
const MAX_PORTS = 100

const PORTS_FORM = `must be a list of 1 to ${MAX_PORTS} ports`

const PROXY_FORM = 'must be http://<user>:<password>@<host>:<port> or https://…, without a path'

/** Calls to addresses that users, or documents from outside, name. */
export const OutgoingSection = section({
  allow_http: key(
    flag,
    false,
    'Take http:// addresses too, whose calls others on the way can read and change. Their port must be in outgoing.allowed_ports: 80, if none is named.',
  ),
  allowed_networks: key(
    v.pipe(rangeList, v.maxLength(MAX_NETWORKS, `must have at most ${MAX_NETWORKS} networks`)),
    [] as string[],
    'Addresses and ranges (CIDR) that are called although they are private: each user who may name an address reaches them.',
  ),
  allowed_ports: key(
    v.pipe(v.array(integer(1, 65_535), PORTS_FORM), v.minLength(1, PORTS_FORM), v.maxLength(MAX_PORTS, PORTS_FORM)),
    [443] as number[],
    'The ports that are called.',
  ),
  proxy: key(
    v.pipe(text, v.check(isProxyUrl, PROXY_FORM)),
    undefined,
    'HTTP proxy for these calls, which must take CONNECT for each of these ports; it gets addresses that were checked, never names.',
    { secret: 'password' },
  ),
})

function isProxyUrl(address: string): boolean {
  if (address.length > 2048 || !/^https?:\/\/[^/?#\s]+\/?$/.test(address)) return false
  const { username = '', password = '' } = parseUrl(address) ?? {}
  return (username !== '' || password === '') && isEscaped(username) && isEscaped(password)
}

function isEscaped(part: string): boolean {
  try {
    decodeURIComponent(part)
    return true
  } catch {
    return false
  }
}
