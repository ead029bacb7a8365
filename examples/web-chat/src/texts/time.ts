import { locale } from './texts.ts'

/** The time of day if it was today, else the date; the year only of another one. */
export function shortTime(instant: string, now = Date.now()): string {
  const at = new Date(instant)
  const today = new Date(now)
  if (at.toDateString() === today.toDateString()) return clock(at)
  const isThisYear = at.getFullYear() === today.getFullYear()
  return new Intl.DateTimeFormat(locale.value, {
    day: 'numeric',
    month: 'short',
    ...(!isThisYear && { year: 'numeric' }),
  }).format(at)
}

/** Date and time. */
export function longTime(instant: string): string {
  return new Intl.DateTimeFormat(locale.value, { dateStyle: 'full', timeStyle: 'short' }).format(new Date(instant))
}

function clock(at: Date): string {
  return new Intl.DateTimeFormat(locale.value, { hour: 'numeric', minute: '2-digit' }).format(at)
}
