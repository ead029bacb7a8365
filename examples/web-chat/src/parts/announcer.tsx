import { signal } from '@preact/signals'

const announced = signal('')

/** Has a screen reader say something when it has finished what it says. */
export function announce(text: string): void {
  announced.value = text
}

/** The place that screen readers watch. */
export function Announcer() {
  return (
    <p class="hidden" aria-live="polite">
      {announced}
    </p>
  )
}
