import { useState } from 'preact/hooks'

/** An action of the user that takes its time: whether it runs, and why it failed. */
export interface Action<Args extends unknown[]> {
  run(...args: Args): Promise<boolean>
  isRunning: boolean
  error: unknown
  clear(): void
}

/** Runs one at a time. `run` resolves to whether it succeeded. */
export function useAction<Args extends unknown[]>(act: (...args: Args) => Promise<unknown>): Action<Args> {
  const [state, setState] = useState<{ isRunning: boolean; error?: unknown }>({ isRunning: false })
  return {
    isRunning: state.isRunning,
    error: state.error,
    clear: () => setState({ isRunning: false }),
    async run(...args) {
      if (state.isRunning) return false
      setState({ isRunning: true })
      try {
        await act(...args)
        setState({ isRunning: false })
        return true
      } catch (error) {
        setState({ isRunning: false, error })
        return false
      }
    },
  }
}
