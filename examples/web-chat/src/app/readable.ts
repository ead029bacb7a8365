import type { Readable } from 'chat-server/client/store'
import { useLayoutEffect, useState } from 'preact/hooks'

/** The snapshot of a part of the store; the component is rendered again after each change of it. */
export function useReadable<T>(readable: Readable<T>): T {
  const [, show] = useState<{ snapshot: T }>()
  const snapshot = readable.getSnapshot()
  useLayoutEffect(() => {
    let last = snapshot
    const update = () => {
      const next = readable.getSnapshot()
      if (Object.is(next, last)) return
      last = next
      show({ snapshot: next })
    }
    const leave = readable.subscribe(update)
    // It may have changed since it was rendered.
    update()
    return leave
  }, [readable])
  return snapshot
}
