import { readSigned, type SigningKeys, signText } from '../core/signed-text.ts'

/** The user that a link lets read a file, how, and until when. */
export interface LinkClaims {
  /** The attachment. */
  id: string
  user_id: string
  /** The session, or the API key, that requested the link: the link ends with it. Left out for a host's own sign-in. */
  session_id?: string
  key_id?: string
  /** Whether a browser may show the file instead of saving it. */
  inline: boolean
  /** Microseconds since 1970. */
  expires_at: number
}

/** The use of the secret that signs links. */
export const LINKS = 'chat-server links of files'

/** A token that only the holder of the key can make. Its reader can read its claims, too: they are no secrets. */
export function signLink(keys: SigningKeys, claims: LinkClaims): string {
  const { id, user_id, session_id = '', key_id = '', inline, expires_at } = claims
  return signText(keys, [id, user_id, session_id, key_id, inline ? 'inline' : '', String(expires_at)].join(' '))
}

/**
 * The claims of a token; `undefined` if it was made with none of these keys, or has expired. The right to read is not checked
 * here.
 *
 * @param now microseconds since 1970
 */
export function readLink(keys: SigningKeys, token: string, now: number): LinkClaims | undefined {
  const [id, user_id, session_id, key_id, inline, expires] = readSigned(keys, token)?.split(' ') ?? []
  const expires_at = Number(expires)
  if (!id || !user_id || !(expires_at > now)) return undefined
  return {
    id,
    user_id,
    ...(session_id && { session_id }),
    ...(key_id && { key_id }),
    inline: inline === 'inline',
    expires_at,
  }
}
