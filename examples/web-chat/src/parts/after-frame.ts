/** The time between two steps while nothing is painted, in milliseconds. */
const HIDDEN_PAUSE_MS = 20

/** Calls it once the frame that comes is painted. @returns a function that cancels it */
export function afterFrame(act: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  if (document.hidden) timer = setTimeout(act, HIDDEN_PAUSE_MS)
  const frame = document.hidden ? 0 : requestAnimationFrame(() => (timer = setTimeout(act)))
  return () => {
    cancelAnimationFrame(frame)
    clearTimeout(timer)
  }
}
