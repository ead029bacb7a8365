import { useState } from 'preact/hooks'
import { Field } from '../parts/field.tsx'
import { texts } from '../texts/texts.ts'

/** A password, which can be shown. */
export function PasswordField({
  autocomplete,
  hint,
}: {
  autocomplete: 'current-password' | 'new-password'
  hint?: string
}) {
  const [isShown, setShown] = useState(false)
  const { fields } = texts.value
  return (
    <>
      <Field
        label={fields.password}
        name="password"
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
