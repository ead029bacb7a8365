import { isReservedName, isVisible, withoutUnseen } from '../../core/characters.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'

/** The content of the browser's cookie: the binding of all its attempts, and the state of the last one. */
export interface Binding {
  secret: string
  state: string
}

/** The binding in a cookie; `undefined` for any other text. */
export function readBinding(cookie: string | undefined): Binding | undefined {
  const [, secret, state] = /^([\w-]{43})\.([\w-]{43})$/.exec(cookie ?? '') ?? []
  return secret && state ? { secret, state } : undefined
}

/** A username from the first usable candidate; short enough for {@link numberedUsername}. */
export function usernameFrom(wishes: readonly (string | undefined)[]): string {
  const names = wishes.map((wish = '') =>
    withoutUnseen(
      wish
        // Normalising a long text is slow.
        .slice(0, MAX_LENGTH.name)
        // Only the part of an address before the @: usernames are public, addresses are not.
        .split(/[@\uFE6B\uFF20]/)[0]!
        .normalize('NFC')
        .replace(/[\p{Cc}\u2028\u2029]/gu, ' '),
    )
      .slice(0, 56)
      // The cut may have split a character.
      .replace(/[\uD800-\uDBFF]$/, '')
      .trim(),
  )
  return names.find((name) => isVisible(name) && !isReservedName(name)) ?? 'user'
}

/** The `n`-th variant of a username, from 1. */
export function numberedUsername(username: string, n: number): string {
  return n === 1 ? username : `${username}-${n}`
}
