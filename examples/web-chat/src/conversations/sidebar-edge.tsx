import { effect, signal } from '@preact/signals'
import { texts } from '../texts/texts.ts'

/** How wide the sidebar is, in pixels. */
const [MIN, MAX, DEFAULT] = [200, 480, 280]
const STEP = 20
const KEY = 'chat:sidebar'

const width = signal(readWidth())

effect(() => {
  const { value } = width
  document.documentElement.style.setProperty('--sidebar', `${value}px`)
  try {
    if (value === DEFAULT) localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, `${value}`)
  } catch {
    // A browser may allow no storage: then the width lasts as long as the page.
  }
})

function readWidth(): number {
  try {
    return within(Number(localStorage.getItem(KEY)) || DEFAULT)
  } catch {
    return DEFAULT
  }
}

function within(pixels: number): number {
  return Math.round(Math.max(MIN, Math.min(MAX, pixels)))
}

/** The edge of the sidebar, which the pointer and the arrow keys move. */
export function SidebarEdge() {
  const isRtl = () => document.documentElement.dir === 'rtl'
  return (
    // biome-ignore lint/a11y/useSemanticElements: A line between panes that can be moved has this role.
    <div
      class="sidebar-edge"
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={texts.value.conversations.resize}
      aria-valuenow={width.value}
      aria-valuemin={MIN}
      aria-valuemax={MAX}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        event.preventDefault()
      }}
      onPointerMove={({ currentTarget, pointerId, clientX }) => {
        if (!currentTarget.hasPointerCapture(pointerId)) return
        width.value = within(isRtl() ? innerWidth - clientX : clientX)
      }}
      onDblClick={() => {
        width.value = DEFAULT
      }}
      onKeyDown={(event) => {
        const sign = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
        if (sign === undefined) return
        event.preventDefault()
        width.value = within(width.value + sign * (isRtl() ? -STEP : STEP))
      }}
    />
  )
}
