import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Field, fieldsOf } from '../parts/field.tsx'
import { entryTexts } from '../texts/entry.ts'
import { texts } from '../texts/texts.ts'
import { Card } from './card.tsx'
import { ForgotPassword } from './forgot-password.tsx'
import { PasswordField } from './password-field.tsx'
import { Providers } from './providers.tsx'

/** What a sign-in is for, where it is not for the page itself, such as an invite. */
export interface SignInProps {
  title?: string
  children?: ComponentChildren
}

/** Sign-in with a password, or through a provider. */
export function SignIn({ title, children }: SignInProps) {
  const { brand, features, session } = useApp()
  const { fields } = texts.value
  const { signIn } = entryTexts.value
  const [isForgotten, setForgotten] = useState(false)
  const { run, isRunning, error } = useAction((form: HTMLFormElement) => {
    const { email = '', password = '' } = fieldsOf(form)
    return session.signIn(email, password)
  })
  if (isForgotten) return <ForgotPassword onBack={() => setForgotten(false)} />
  return (
    <Card brand={brand} title={title ?? signIn.title(brand.name)}>
      {children}
      {session.hasEnded.value && <p role="status">{signIn.ended}</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void run(event.currentTarget)
        }}
      >
        <Field label={fields.email} name="email" type="email" autocomplete="username" required />
        <PasswordField autocomplete="current-password" />
        <ErrorNote error={error} />
        <button type="submit" class="primary" disabled={isRunning}>
          {signIn.button}
        </button>
      </form>
      {features.mail && (
        <button type="button" class="link" onClick={() => setForgotten(true)}>
          {signIn.forgot}
        </button>
      )}
      <Providers />
    </Card>
  )
}
