import { computed, type ReadonlySignal } from '@preact/signals'
import { locale } from './texts.ts'

/** A format in the language that is shown. It is made once: that takes a hundred times as long as to use it. */
function formatOf(options: Intl.DateTimeFormatOptions): ReadonlySignal<Intl.DateTimeFormat> {
  return computed(() => new Intl.DateTimeFormat(locale.value, options))
}

const clock = formatOf({ hour: 'numeric', minute: '2-digit' })
const date = formatOf({ day: 'numeric', month: 'short' })
const dateOfYear = formatOf({ day: 'numeric', month: 'short', year: 'numeric' })
const weekday = formatOf({ weekday: 'short' })
const day = formatOf({ weekday: 'long', day: 'numeric', month: 'long' })
const dayOfYear = formatOf({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })
const relative = computed(() => new Intl.RelativeTimeFormat(locale.value, { numeric: 'auto' }))
const whole = formatOf({ dateStyle: 'full', timeStyle: 'short' })

/** The time of day, behind the date unless that is today. */
export function shortTime(instant: string, now = Date.now()): string {
  const time = clock.value.format(new Date(instant))
  const short = listTime(instant, now)
  return short === time ? time : `${short}, ${time}`
}

/** In the list of conversations: the time of day if it was today, else the date; the year only of another one. */
export function listTime(instant: string, now = Date.now()): string {
  const at = new Date(instant)
  const today = new Date(now)
  const isThisYear = at.getFullYear() === today.getFullYear()
  if (isThisYear && at.getMonth() === today.getMonth() && at.getDate() === today.getDate())
    return clock.value.format(at)
  return (isThisYear ? date : dateOfYear).value.format(at)
}

/** The time of day. */
export function timeOf(instant: string): string {
  return clock.value.format(new Date(instant))
}

/** The time of day, behind the day unless that is today: of the last week its weekday, else the date. */
export function momentOf(instant: string, now = Date.now()): string {
  const at = new Date(instant)
  const days = daysBetween(at, new Date(now))
  if (days === 0) return timeOf(instant)
  const isWeek = days > 0 && days < 7
  const day = isWeek ? weekday : at.getFullYear() === new Date(now).getFullYear() ? date : dateOfYear
  return `${day.value.format(at)} ${timeOf(instant)}`
}

/** The name of a day: today, yesterday, or its weekday and date. */
export function dayName(instant: string, now = Date.now()): string {
  const at = new Date(instant)
  const days = daysBetween(at, new Date(now))
  if (days === 0 || days === 1) {
    const name = relative.value.format(-days, 'day')
    return name.charAt(0).toLocaleUpperCase() + name.slice(1)
  }
  return (at.getFullYear() === new Date(now).getFullYear() ? day : dayOfYear).value.format(at)
}

function daysBetween(one: Date, other: Date): number {
  const midnight = (at: Date) => Date.UTC(at.getFullYear(), at.getMonth(), at.getDate())
  return Math.round((midnight(other) - midnight(one)) / 86_400_000)
}

/** The date of a day, such as 2026-05-31. */
export function dateOf(day: string): string {
  return dateOfYear.value.format(new Date(`${day}T00:00`))
}

/** Date and time. */
export function longTime(instant: string): string {
  return whole.value.format(new Date(instant))
}
