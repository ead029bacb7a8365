import { useSyncExternalStore } from 'react'
import type { Readable } from '../store/index.ts'

/** The current snapshot of a part of the store. */
export function useReadable<T>({ subscribe, getSnapshot, getServerSnapshot }: Readable<T>): T {
  return useSyncExternalStore(subscribe, getSnapshot, getServerSnapshot)
}
