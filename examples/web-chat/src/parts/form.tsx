import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Action } from '../app/action.ts'
import { ErrorNote } from './error-note.tsx'
import { beyondFields, FormError } from './form-error.ts'

interface FormProps {
  action: Action<[form: HTMLFormElement]>
  button: string
  children: ComponentChildren
}

/** Inputs with a button that sends them; what the service refuses is shown at its field, which gets the focus. */
export function Form({ action: { run, isRunning, error }, button, children }: FormProps) {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (error !== undefined) form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus()
  }, [error])
  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault()
        void run(event.currentTarget)
      }}
    >
      <FormError.Provider value={error}>{children}</FormError.Provider>
      <ErrorNote error={beyondFields(error, form.current)} />
      <p class="buttons">
        <button type="submit" class="primary" disabled={isRunning}>
          {button}
        </button>
      </p>
    </form>
  )
}
