import { useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { nameOf } from '../app/people.ts'
import { goTo } from '../app/route.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Field, fieldsOf } from '../parts/field.tsx'
import { texts } from '../texts/texts.ts'
import { Card } from './card.tsx'
import { HostSignIn } from './host-sign-in.tsx'
import { PasswordField } from './password-field.tsx'
import { SignIn } from './sign-in.tsx'

/** An invite link: who is signed in joins, a newcomer creates an account first. */
export function Join({ token }: { token: string }) {
  const { brand, features, session } = useApp()
  const { join, fields } = texts.value
  const user = session.user.value
  const [hasAccount, setHasAccount] = useState(!features.sign_up)
  const { run, isRunning, error } = useAction(async (form?: HTMLFormElement) => {
    const { username = '', email = '', password = '' } = form ? fieldsOf(form) : {}
    const conversation_id = await session.join(token, form && { username, email, password })
    goTo({ name: 'conversation', conversation_id }, { replace: true })
  })

  if (user)
    return (
      <Card brand={brand} title={join.title}>
        <p>{join.text_signed_in(nameOf(user))}</p>
        <ErrorNote error={error} />
        <button type="button" class="primary" disabled={isRunning} onClick={() => void run()}>
          {join.button}
        </button>
      </Card>
    )
  if (!features.sign_in || brand.sign_in_url !== undefined) return <HostSignIn />
  if (hasAccount) return <SignIn />
  return (
    <Card brand={brand} title={join.title}>
      <p>{join.text}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void run(event.currentTarget)
        }}
      >
        <Field label={fields.username} name="username" autocomplete="nickname" maxLength={64} required />
        <Field label={fields.email} name="email" type="email" autocomplete="username" required />
        <PasswordField autocomplete="new-password" hint={fields.password_hint} />
        <ErrorNote error={error} />
        <button type="submit" class="primary" disabled={isRunning}>
          {join.button}
        </button>
      </form>
      <button type="button" class="link" onClick={() => setHasAccount(true)}>
        {join.have_account}
      </button>
    </Card>
  )
}
