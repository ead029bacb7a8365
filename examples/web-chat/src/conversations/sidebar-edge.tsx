import { texts } from '../texts/texts.ts'
import { MAX_WIDTH, MIN_WIDTH, setWidth, width } from './sidebar-width.ts'

/** By how much an arrow key moves the edge, in pixels. */
const STEP = 20

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
      aria-valuemin={MIN_WIDTH}
      aria-valuemax={MAX_WIDTH}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        event.preventDefault()
      }}
      onPointerMove={({ currentTarget, pointerId, clientX }) => {
        if (!currentTarget.hasPointerCapture(pointerId)) return
        setWidth(isRtl() ? innerWidth - clientX : clientX)
      }}
      onDblClick={() => setWidth()}
      onKeyDown={(event) => {
        const sign = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
        if (sign === undefined) return
        event.preventDefault()
        setWidth(width.value + sign * (isRtl() ? -STEP : STEP))
      }}
    />
  )
}
