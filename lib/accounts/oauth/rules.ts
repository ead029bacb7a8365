import { isVisible, withoutUnseen } from '../../core/characters.ts'
import { LONGEST } from '../../core/lengths.ts'

/** What the cookie of a browser holds: what all its attempts are bound to, and the state of the last one. */
export interface Binding {
  secret: string
  state: string
}

/** The binding that a cookie holds; `undefined` for any other text. */
export function readBinding(cookie: string | undefined): Binding | undefined {
  const [, secret, state] = /^([\w-]{43})\.([\w-]{43})$/.exec(cookie ?? '') ?? []
  return secret && state ? { secret, state } : undefined
}

/** A username from the first wish that can be one; short enough for {@link numbered}. */
export function usernameFrom(wishes: readonly (string | undefined)[]): string {
  const names = wishes.map((wish = '') =>
    withoutUnseen(
      wish
        // Normalising takes long for what is long.
        .slice(0, LONGEST.name)
        // Of an address only what is before the @: names are public, addresses are not.
        .split(/[@\uFE6B\uFF20]/)[0]!
        .normalize('NFC')
        .replace(/[\p{Cc}\u2028\u2029]/gu, ' '),
    )
      .slice(0, 56)
      // The cut may have gone through a character.
      .replace(/[\uD800-\uDBFF]$/, '')
      .trim(),
  )
  return names.find((name) => isVisible(name)) ?? 'user'
}

/** The `n`-th form of a username that others may have, from 1. */
export function numbered(username: string, n: number): string {
  return n === 1 ? username : `${username}-${n}`
}
