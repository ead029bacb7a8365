import { attempt } from '../app/attempt.ts'
import { keptChoice } from '../app/kept-choice.ts'
import { RECENT_EMOJI } from './recent-key.ts'

/** How many are kept: three lines of the picker. */
const MAX_RECENT = 24

/** The tone of skin of hands and people: none, or one of five. */
export const skinTone = keptChoice('chat:skin-tone', ['0', '1', '2', '3', '4', '5'])

/** The emoji that were chosen on this device, the latest first. */
export function recentEmoji(): readonly string[] {
  const kept: unknown = attempt(() => JSON.parse(localStorage.getItem(RECENT_EMOJI) ?? '[]'))
  return Array.isArray(kept) ? kept.filter((each) => typeof each === 'string').slice(0, MAX_RECENT) : []
}

/** Keeps an emoji that was chosen. */
export function keepRecent(sign: string): void {
  const next = [sign, ...recentEmoji().filter((each) => each !== sign)].slice(0, MAX_RECENT)
  attempt(() => localStorage.setItem(RECENT_EMOJI, JSON.stringify(next)))
}
