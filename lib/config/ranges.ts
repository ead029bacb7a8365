import { isIP } from 'node:net'
import * as v from 'valibot'

const RANGES_FORM = 'must be a list of addresses and ranges, such as 10.0.0.0/8 or 2001:db8::1'

/** IP addresses, and ranges of them in CIDR notation. */
export const rangeList = v.array(v.pipe(v.string(RANGES_FORM), v.check(isRange, RANGES_FORM)), RANGES_FORM)

/** An IP address, or with a `/` and a prefix length a range (CIDR). */
function isRange(text: string): boolean {
  const [, address = '', prefix] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)]!
  return bits > 0 && Number(prefix ?? 0) <= bits
}
