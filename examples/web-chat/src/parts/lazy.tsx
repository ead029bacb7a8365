import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ErrorNote } from './error-note.tsx'

/**
 * A component of a file of its own, which is loaded when it is first shown, with its style: the first screen is smaller
 * without them. After a failure it is loaded when it is shown the next time.
 *
 * @param Until what is shown in its place until then, if anything is
 */
export function lazy<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Until?: ComponentType<Props>,
): ComponentType<Props> {
  let Loaded: ComponentType<Props> | undefined
  return function Lazy(props: Props) {
    const [state, show] = useState<{ error?: unknown }>({})
    const wasLoaded = Loaded !== undefined
    useEffect(() => {
      if (wasLoaded) return
      // Another one has loaded it since this one was rendered.
      if (Loaded) return show({})
      let isShown = true
      Promise.all([load(), import('../styles/later.ts')]).then(
        ([component]) => {
          Loaded = component
          if (isShown) show({})
        },
        (error) => isShown && show({ error }),
      )
      return () => {
        isShown = false
      }
    }, [])
    if (Loaded) return <Loaded {...props} />
    return (
      <>
        {Until && <Until {...props} />}
        <div class="toast">
          <ErrorNote error={state.error} />
        </div>
      </>
    )
  }
}
