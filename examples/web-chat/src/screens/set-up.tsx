import { ChatError } from 'chat-server/client'
import { useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Field, fieldsOf } from '../parts/field.tsx'
import { texts } from '../texts/texts.ts'
import { Card } from './card.tsx'
import { PasswordField } from './password-field.tsx'

/** The first account of a new service. */
export function SetUp() {
  const { brand, session } = useApp()
  const { setUp, fields } = texts.value
  // Asked for once the service has said that it wants one: most are not reachable from outside yet, and have none.
  const [needsCode, setNeedsCode] = useState(false)
  const { run, isRunning, error } = useAction(async (form: HTMLFormElement) => {
    const { email = '', password = '', display_name, setup_code } = fieldsOf(form)
    try {
      await session.setUp({ email, password, ...(display_name && { display_name }), ...(setup_code && { setup_code }) })
    } catch (error) {
      if (error instanceof ChatError && error.code === 'forbidden') setNeedsCode(true)
      throw error
    }
  })
  return (
    <Card brand={brand} title={setUp.title}>
      <p>{setUp.text(brand.name)}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void run(event.currentTarget)
        }}
      >
        <Field
          label={fields.display_name}
          name="display_name"
          autocomplete="name"
          maxLength={100}
          hint={fields.optional}
        />
        <Field label={fields.email} name="email" type="email" autocomplete="username" required />
        <PasswordField autocomplete="new-password" hint={fields.password_hint} />
        {needsCode && <Field label={setUp.code} name="setup_code" autocomplete="off" hint={setUp.code_hint} required />}
        <ErrorNote error={error} />
        <button type="submit" class="primary" disabled={isRunning}>
          {setUp.button}
        </button>
      </form>
    </Card>
  )
}
