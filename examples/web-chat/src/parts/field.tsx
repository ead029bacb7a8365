import type { InputHTMLAttributes } from 'preact'
import { useContext, useId } from 'preact/hooks'
import { FormError, messageFor } from './form-error.ts'

type FieldProps = { label: string; hint?: string | undefined; type?: string } & Omit<
  InputHTMLAttributes,
  'label' | 'type'
>

/** A labelled input with an explanation. */
export function Field({ label, hint, ...rest }: FieldProps) {
  const id = useId()
  const wrong = messageFor(useContext(FormError), rest.name)
  const described = [wrong && `${id}-wrong`, hint && `${id}-hint`].filter(Boolean).join(' ')
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        {...(rest as InputHTMLAttributes)}
        id={id}
        aria-describedby={described || undefined}
        aria-invalid={wrong !== undefined || undefined}
      />
      {wrong && (
        <small id={`${id}-wrong`} class="wrong">
          {wrong}
        </small>
      )}
      {hint && (
        <small id={`${id}-hint`} class="hint">
          {hint}
        </small>
      )}
    </div>
  )
}

/** The texts in a form, by the names of its inputs. */
export function fieldsOf(form: HTMLFormElement): Record<string, string> {
  return Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]))
}
