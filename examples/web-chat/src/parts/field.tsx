import type { InputHTMLAttributes } from 'preact'
import { useId } from 'preact/hooks'

type FieldProps = { label: string; hint?: string | undefined; type?: string } & Omit<
  InputHTMLAttributes,
  'label' | 'type'
>

/** A labelled input with an explanation. */
export function Field({ label, hint, ...rest }: FieldProps) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input {...(rest as InputHTMLAttributes)} id={id} aria-describedby={hint && `${id}-hint`} />
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
