import { useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Field, fieldsOf } from '../parts/field.tsx'
import { entryTexts } from '../texts/entry.ts'
import { texts } from '../texts/texts.ts'
import { Card } from './card.tsx'

/** Asks for a mail with a link to reset the password. */
export function ForgotPassword({ onBack }: { onBack: () => void }) {
  const { brand, client } = useApp()
  const { fields, back } = texts.value
  const { signIn } = entryTexts.value
  const [isSent, setSent] = useState(false)
  const { run, isRunning, error } = useAction(async (form: HTMLFormElement) => {
    await client.resets.request({ email: fieldsOf(form).email ?? '' })
    setSent(true)
  })
  return (
    <Card brand={brand} title={signIn.forgot_title}>
      {isSent ? (
        <p role="status">{signIn.forgot_done}</p>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            void run(event.currentTarget)
          }}
        >
          <p>{signIn.forgot_text}</p>
          <Field label={fields.email} name="email" type="email" autocomplete="username" required />
          <ErrorNote error={error} />
          <button type="submit" class="primary" disabled={isRunning}>
            {signIn.forgot_button}
          </button>
        </form>
      )}
      <button type="button" class="link" onClick={onBack}>
        {back}
      </button>
    </Card>
  )
}
