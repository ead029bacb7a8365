import { signal } from '@preact/signals'

/** How long a short message is shown. */
const SHOWN_MS = 4_000

const shown = signal<{ text: string; isError: boolean } | undefined>(undefined)

/** Shows for a moment what became of an action that has no other place for it. */
export function showToast(text: string, { isError = false } = {}): void {
  const toast = { text, isError }
  shown.value = toast
  setTimeout(() => {
    if (shown.value === toast) shown.value = undefined
  }, SHOWN_MS)
}

/** The place of {@link showToast}. It is read aloud. */
export function Toast() {
  return (
    <div class="toast" role="status">
      {shown.value && <p class={shown.value.isError ? 'error' : 'said'}>{shown.value.text}</p>}
    </div>
  )
}
