import { lazy } from '../parts/lazy.tsx'

/** The files of a message, which most messages lack. */
export const MessageFiles = lazy(() => import('./message-files.tsx').then(({ MessageFiles }) => MessageFiles))
