/** How long something is kept current without a reader: a page that changes its view, or mounts it twice, finds it. */
const LINGER_MS = 1_000

/** Joins with the first reader, and leaves a while after the last one. */
export function lingering(join: () => () => void, onLeave?: () => void): (isWatched: boolean) => void {
  let leave: (() => void) | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const end = () => {
    onLeave?.()
    leave?.()
    leave = undefined
  }
  return (isWatched) => {
    clearTimeout(timer)
    if (isWatched) leave ??= join()
    else timer = setTimeout(end, LINGER_MS)
  }
}
