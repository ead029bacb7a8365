import * as v from 'valibot'
import { CookieSection } from './cookie.ts'
import { flag, integer, key, previousSecrets, reloadableKey, section, text } from './key.ts'

/** The name of a cookie or a header (`token` of RFC 9110). */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

const SECRET_KEY_BYTES = 32

const FORM = `must be ${SECRET_KEY_BYTES} random bytes in base64, such as "openssl rand -base64 ${SECRET_KEY_BYTES}" prints`

const secretKey = v.pipe(text, v.check(isSecretKey, FORM))

/** What may be in a cookie's or a header's name. */
export const token = v.pipe(
  text,
  v.regex(TOKEN, "must have letters, digits and !#$%&'*+-.^_`|~ only, and one at least"),
)

/** Keys, cookies, CSRF and passwords. */
export const SecuritySection = section({
  secret_key: reloadableKey(
    secretKey,
    undefined,
    'Signs links and tokens, and encrypts what the service must use again: 32 random bytes in base64. All nodes need the same. Default: a key in the database, which every copy of the database contains.',
    { secret: true },
  ),
  previous_secret_keys: reloadableKey(
    previousSecrets(secretKey),
    [] as string[],
    'Former values of security.secret_key, which still open what they encrypted; what they signed is taken for 24 hours. A next value is listed here first, until all nodes know it.',
    { secret: true },
  ),
  cookie: CookieSection,
  csrf: section({
    enabled: key(flag, true, 'Check the CSRF header. Turn it off only if no browser signs in.'),
    cookie_name: key(token, 'CSRF-TOKEN', 'Name of the CSRF cookie.'),
    header_name: key(token, 'X-CSRF-TOKEN', 'Header that repeats the value of the CSRF cookie.'),
  }),
  password: section({
    bcrypt_cost: key(
      integer(4, 31),
      12,
      'Cost of one password hash; each step doubles it. Below 10 is for tests only.',
    ),
  }),
})

/** The bytes of a configured key. */
export function toSecret(secretKey: string): Uint8Array {
  return Buffer.from(secretKey, 'base64')
}

/** In the one form in which it is encoded: nodes compare texts. */
function isSecretKey(value: string): boolean {
  const bytes = toSecret(value)
  return bytes.length === SECRET_KEY_BYTES && Buffer.from(bytes).toString('base64') === value
}
