import { signal } from '@preact/signals'

const announced = signal('')

/** Has a screen reader say something when it has finished what it says. */
export function announce(text: string): void {
  // The same text again is only said if something changes.
  announced.value = text === announced.peek() ? `${text}\u00a0` : text
}

/** The place that screen readers watch. */
export function Announcer() {
  return (
    <p class="hidden" aria-live="polite">
      {announced}
    </p>
  )
}
