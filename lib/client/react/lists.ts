import { useMemo } from 'react'
import type { ReadableList, Reloadable } from '../store/index.ts'
import { useReadable } from './readable.ts'

/** What lists have besides their snapshot. */
export interface ListActions {
  /** Reads the next page. */
  loadMore: () => Promise<void>
  /** Reads again what the list has. */
  reload: () => Promise<void>
}

/** A part of the store with the function that reads it again. */
export function useReloadable<View extends object>({
  reload,
  ...readable
}: Reloadable<View>): View & { reload: () => Promise<void> } {
  const view = useReadable(readable)
  return useMemo(() => ({ ...view, reload }), [view, reload])
}

/** A list of the store with the functions that read it. */
export function useList<View extends object>({ loadMore, ...readable }: ReadableList<View>): View & ListActions {
  const view = useReloadable(readable)
  return useMemo(() => ({ ...view, loadMore }), [view, loadMore])
}
