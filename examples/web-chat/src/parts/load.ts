import { useEffect, useState } from 'preact/hooks'

/** What is read when a component is shown. */
export interface Loaded<T> {
  value: T | undefined
  error: unknown
  /** Reads it again. */
  reload(): void
}

/** Reads when shown, when `keys` change, and on demand; what was read stays until the next is there. */
export function useLoad<T>(read: (signal: AbortSignal) => Promise<T>, keys: readonly unknown[] = []): Loaded<T> {
  const [state, setState] = useState<{ value?: T; error?: unknown }>({})
  const [round, setRound] = useState(0)
  useEffect(() => {
    const abort = new AbortController()
    read(abort.signal).then(
      (value) => abort.signal.aborted || setState({ value }),
      (error) => abort.signal.aborted || setState(({ value }) => ({ ...(value !== undefined && { value }), error })),
    )
    return () => abort.abort()
  }, [round, ...keys])
  return { value: state.value, error: state.error, reload: () => setRound((before) => before + 1) }
}
