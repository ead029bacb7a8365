/** A time in seconds as it is read: `8 s`, `2 min 5 s`, `3 h 10 min`. The signs are those of every language. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  const [hours, minutes, rest] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60, whole % 60]
  const shown =
    hours > 0 ? [`${hours} h`, minutes > 0 && `${minutes} min`] : [`${minutes} min`, rest > 0 && `${rest} s`]
  return whole < 60 ? `${whole} s` : shown.filter(Boolean).join(' ')
}
