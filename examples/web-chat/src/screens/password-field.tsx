import { useState } from 'preact/hooks'
import { Field } from '../parts/field.tsx'
import { texts } from '../texts/texts.ts'

interface PasswordFieldProps {
  autocomplete: 'current-password' | 'new-password'
  label?: string
  name?: string
  hint?: string
}

/** A password, which can be shown. */
export function PasswordField({ autocomplete, label, name = 'password', hint }: PasswordFieldProps) {
  const [isShown, setShown] = useState(false)
  const { fields } = texts.value
  return (
    <>
      <Field
        label={label ?? fields.password}
        name={name}
        type={isShown ? 'text' : 'password'}
        autocomplete={autocomplete}
        minLength={autocomplete === 'new-password' ? 8 : undefined}
        hint={hint}
        required
      />
      <label class="check">
        <input type="checkbox" checked={isShown} onChange={() => setShown(!isShown)} />
        {fields.show}
      </label>
    </>
  )
}
