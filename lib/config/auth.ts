import { createPublicKey } from 'node:crypto'
import * as v from 'valibot'
import type { Config } from '../api/config.ts'
import { flag, integer, key, section, someText, text } from './key.ts'
import { isSecureUrl } from './oauth.ts'

/** The shortest secret that cannot be guessed from a token (RFC 7518, section 3.2). */
const MIN_SECRET_BYTES = 32

/** The longest life of a token that can be configured, in seconds: 400 days, as of sessions. */
export const MAX_TOKEN_SECONDS = 400 * 24 * 60 * 60

/** The algorithms of each sort of key; never `none`. */
const ALGORITHMS = {
  secret: ['HS256', 'HS384', 'HS512'],
  rsa: ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ec: ['ES256', 'ES384', 'ES512'],
  ed25519: ['EdDSA', 'Ed25519'],
} as const

const OF_PUBLIC_KEYS: readonly string[] = [...ALGORITHMS.rsa, ...ALGORITHMS.ec, ...ALGORITHMS.ed25519]

const claim = v.pipe(text, v.regex(/^\S{1,200}$/, 'must be the name of a claim, without spaces'))

const ALGORITHMS_FORM = 'must be a list of algorithms of signatures, such as RS256'

/** The tokens that a host signs. */
const JwtSection = section({
  issuer: key(someText, undefined, 'The iss of the tokens. Signed tokens are taken where it is set.'),
  audience: key(someText, undefined, 'The aud that a token must have. Required with the issuer.'),
  secret: key(
    v.pipe(
      text,
      v.check((value) => Buffer.byteLength(value) >= MIN_SECRET_BYTES, `must have at least ${MIN_SECRET_BYTES} bytes`),
    ),
    undefined,
    'Secret that signs the tokens (HS256). One of secret, public_key and jwks_url is required with the issuer.',
    { secret: true },
  ),
  public_key: key(
    v.pipe(
      text,
      v.check((pem) => algorithmsOfPublicKey(pem) !== undefined, 'must be a public key in PEM: RSA, EC or Ed25519'),
    ),
    undefined,
    'Public key of the tokens, in PEM.',
  ),
  jwks_url: key(
    v.pipe(text, v.check(isSecureUrl, 'must be an https:// address; http:// is for this machine only')),
    undefined,
    'URL of the public keys of the tokens (JWKS); it is read again when a token names an unknown key.',
  ),
  algorithms: key(
    v.pipe(
      v.array(v.pipe(v.string(ALGORITHMS_FORM), v.check(isAlgorithm, ALGORITHMS_FORM)), ALGORITHMS_FORM),
      v.nonEmpty(ALGORITHMS_FORM),
    ),
    undefined,
    'The algorithms that are taken. Default: those of the key.',
  ),
  subject: key(claim, 'sub', 'The claim with your own id of the person, which never changes.'),
  username: key(claim, 'preferred_username', 'The claim with the username.'),
  display_name: key(claim, 'name', 'The claim with the display name.'),
  email: key(claim, 'email', 'The claim with the email address, which is taken if email_verified is true.'),
  avatar_url: key(claim, 'picture', 'The claim with the https URL of a photo.'),
  roles: key(claim, 'chat_roles', 'The claim with the roles.'),
  admin: key(flag, false, 'Whether a token may make its person an administrator.'),
  max_seconds: key(integer(60, MAX_TOKEN_SECONDS), 86_400, 'The longest life of a token, from iat to exp.', {
    unit: 'seconds',
  }),
  leeway_seconds: key(integer(0, 300), 30, 'How far the clock of the issuer may differ.', { unit: 'seconds' }),
})

/** How users prove who they are. */
export const AuthSection = section({
  sign_in: key(
    flag,
    true,
    'Serve sign-in, sign-up, reset and OAuth of the service; if false, they are 404, and only keys and signed tokens count.',
  ),
  jwt: JwtSection,
})

/** The keys of `auth.jwt`. */
export type JwtConfig = Config['auth']['jwt']

/** Tokens that are taken: with an issuer, an audience and one key. */
export type JwtSettings = JwtConfig & { issuer: string; audience: string; algorithms: string[] }

const KEYS = ['secret', 'public_key', 'jwks_url'] as const

/** Missing or contradictory keys, by their names. */
export function jwtProblems(jwt: JwtConfig): { key: keyof JwtConfig; message: string }[] {
  const given = KEYS.filter((name) => jwt[name] !== undefined)
  if (given.length === 0 && jwt.issuer === undefined && jwt.audience === undefined) return []
  if (jwt.issuer === undefined) return [{ key: 'issuer', message: 'must be set where tokens are taken' }]
  if (jwt.audience === undefined) return [{ key: 'audience', message: 'must be set where tokens are taken' }]
  if (given.length === 0) return [{ key: 'secret', message: 'must be set, or public_key, or jwks_url' }]
  if (given.length > 1) return [{ key: given[1]!, message: `and ${given[0]} exclude each other` }]
  const possible = algorithmsOf(jwt)
  const other = jwt.algorithms?.find((name) => !possible.includes(name))
  return other === undefined
    ? []
    : [{ key: 'algorithms', message: `has ${other}, which is not one of the ${given[0]}` }]
}

/** The settings of the tokens, where they are taken. */
export function jwtSettings(jwt: JwtConfig): JwtSettings | undefined {
  const { issuer, audience } = jwt
  if (issuer === undefined || audience === undefined) return undefined
  return { ...jwt, issuer, audience, algorithms: jwt.algorithms ?? [...algorithmsOf(jwt)] }
}

/** A public key is never taken for a secret: all who know it could sign. */
function algorithmsOf({ secret, public_key }: JwtConfig): readonly string[] {
  if (secret !== undefined) return ALGORITHMS.secret
  return (public_key === undefined ? undefined : algorithmsOfPublicKey(public_key)) ?? OF_PUBLIC_KEYS
}

function isAlgorithm(name: string): boolean {
  return [...ALGORITHMS.secret, ...OF_PUBLIC_KEYS].includes(name)
}

function algorithmsOfPublicKey(pem: string): readonly string[] | undefined {
  // A private key, from which Node would derive the public one, does not belong here.
  if (!pem.includes('BEGIN') || pem.includes('PRIVATE KEY')) return undefined
  try {
    const type = createPublicKey(pem).asymmetricKeyType
    return type && Object.hasOwn(ALGORITHMS, type) ? ALGORITHMS[type as keyof typeof ALGORITHMS] : undefined
  } catch {
    return undefined
  }
}
