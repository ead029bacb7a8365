import { useContext, useId } from 'preact/hooks'
import { FormError, messageFor } from './form-error.ts'

interface TextAreaProps {
  label: string
  hint: string
  name: string
  rows: number
  maxLength: number
  /** What is in it at first. */
  text?: string
  /** Code is written from the left in all languages. */
  dir?: 'auto' | 'ltr'
}

/** A labelled field of several lines, with an explanation. */
export function TextArea({ label, hint, text = '', dir = 'auto', ...rest }: TextAreaProps) {
  const id = useId()
  const wrong = messageFor(useContext(FormError), rest.name)
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        {...rest}
        id={id}
        dir={dir}
        defaultValue={text}
        aria-describedby={wrong ? `${id}-wrong ${id}-hint` : `${id}-hint`}
        aria-invalid={wrong !== undefined || undefined}
      />
      {wrong && (
        <small id={`${id}-wrong`} class="wrong">
          {wrong}
        </small>
      )}
      <small id={`${id}-hint`} class="hint">
        {hint}
      </small>
    </div>
  )
}
