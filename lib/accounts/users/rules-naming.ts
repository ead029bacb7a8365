import { isReservedName, isUsername } from '../../core/characters.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'

/** The room for a number after a derived name. */
const NUMBER_LENGTH = 10

/**
 * The username of a user who chose none: from the displayed name, in lower case and with dots for its spaces, else from the
 * email address. It may be taken, or reserved.
 */
export function deriveUsername(displayName: string | undefined, email: string): string {
  const local = email.trim().split('@')[0]!
  return toUsername(displayName ?? '') || toUsername(local) || 'user'
}

function toUsername(text: string): string {
  const words = text
    .normalize('NFC')
    .toLowerCase()
    .split(/[\s\p{Z}]+/u)
  const name = words.map((word) => [...word].filter(isUsername).join('')).filter((word) => word !== '')
  let end = ''
  for (const character of name.join('.')) {
    if (end.length + character.length > MAX_LENGTH.username - NUMBER_LENGTH) break
    end += character
  }
  return end
}

/** Whether a derived username may be given as it is. */
export function isGivable(username: string): boolean {
  return isUsername(username) && !isReservedName(username)
}
