import { computed, type ReadonlySignal } from '@preact/signals'
import { locale } from './texts.ts'

/** A format in the language that is shown. It is made once: that takes a hundred times as long as to use it. */
function formatOf(options: Intl.DateTimeFormatOptions): ReadonlySignal<Intl.DateTimeFormat> {
  return computed(() => new Intl.DateTimeFormat(locale.value, options))
}

const clock = formatOf({ hour: 'numeric', minute: '2-digit' })
const date = formatOf({ day: 'numeric', month: 'short' })
const dateOfYear = formatOf({ day: 'numeric', month: 'short', year: 'numeric' })
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

/** Date and time. */
export function longTime(instant: string): string {
  return whole.value.format(new Date(instant))
}
