import { ChatError } from 'chat-server/client'
import type { Loading, Readable } from 'chat-server/client/store'
import { useEffect } from 'preact/hooks'
import { useApp } from './context.ts'
import { useReadable } from './readable.ts'

/** How long changes are gathered before they are kept. */
const GATHER_MS = 1_000

/** Of a list or a thread, as much is kept. */
export const MAX_KEPT = 500

/**
 * Keeps what is shown for a time without the service, and shows it then.
 *
 * @param path of the API that returns it; without one, it is not kept
 * @param toBody what the API would return
 */
export function useKept<View extends Loading>(
  part: Readable<View> & { reload: () => Promise<void> },
  view: View,
  path: string | undefined,
  toBody: (view: View) => object,
): void {
  const { store, snapshot } = useApp()
  const { status } = useReadable(store.connection)
  useEffect(() => {
    if (status === 'offline' && view.status === 'loading') void part.reload()
  }, [part, status, view.status])
  useEffect(() => {
    if (path === undefined) return
    // The user may see it no longer: what was kept just before the event goes, too.
    if (view.status === 'failed' && view.error instanceof ChatError) return void snapshot.forget(path)
    if (status !== 'online' || view.status !== 'ready') return
    const timer = setTimeout(() => void snapshot.keep(path, JSON.stringify(toBody(view))), GATHER_MS)
    return () => clearTimeout(timer)
  }, [path, status, view])
}
