import { effect, signal } from '@preact/signals'

/** How narrow and how wide the sidebar may be, in pixels. */
export const [MIN_WIDTH, MAX_WIDTH] = [200, 480]

const DEFAULT_WIDTH = 280
const KEY = 'chat:sidebar'

/** How wide it is. The browser keeps it. */
export const width = signal(readWidth())

effect(() => {
  const { value } = width
  document.documentElement.style.setProperty('--sidebar', `${value}px`)
  try {
    if (value === DEFAULT_WIDTH) localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, `${value}`)
  } catch {
    // A browser may allow no storage: then the width lasts as long as the page.
  }
})

function readWidth(): number {
  try {
    return within(Number(localStorage.getItem(KEY)) || DEFAULT_WIDTH)
  } catch {
    return DEFAULT_WIDTH
  }
}

/** Sets the width as near to it as may be; none is the default. */
export function setWidth(pixels = DEFAULT_WIDTH): void {
  width.value = within(pixels)
}

function within(pixels: number): number {
  return Math.round(Math.max(MIN_WIDTH, Math.min(MAX_WIDTH, pixels)))
}
