import * as v from 'valibot'
import { flag, key, oneOf, section, text } from './key.ts'

/** The beginning of such a name; `__Host-` and the like have a meaning of their own. */
const COOKIE_PREFIX = /^(?!__)[!#$%&'*+\-.^_`|~0-9A-Za-z]*$/

/** A host name that browsers accept in a cookie's Domain; empty for a host-only cookie. */
const COOKIE_DOMAIN = /^$|^\.?[0-9a-z]([0-9a-z-]*[0-9a-z])?(\.[0-9a-z]([0-9a-z-]*[0-9a-z])?)*$/i

/** What all cookies of the service have in common. */
export const CookieSection = section({
  prefix: key(
    v.pipe(text, v.regex(COOKIE_PREFIX, "must have letters, digits and !#$%&'*+-.^_`|~ only, and not begin with __")),
    '',
    'What the names of all cookies begin with, such as chat_, unless a name is set itself: two services under one host name need other names.',
  ),
  domain: key(
    v.pipe(text, v.regex(COOKIE_DOMAIN, 'must be a host name, or empty')),
    '',
    'Domain of both cookies; empty keeps them to the host that set them.',
  ),
  secure: key(flag, false, 'Send the cookies over HTTPS only. Turn it on if you use HTTPS.'),
  same_site: key(oneOf('lax', 'strict', 'none'), 'lax', 'SameSite of the session cookie; none needs secure.'),
})
