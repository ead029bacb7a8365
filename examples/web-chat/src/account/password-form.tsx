import type { User } from 'chat-server/client'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { Field, fieldsOf } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { showToast } from '../parts/toast.tsx'
import { PasswordField } from '../screens/password-field.tsx'
import { accountTexts } from '../texts/settings.ts'
import { texts } from '../texts/texts.ts'

/** Changes the password; whoever else knows the old one is signed out with it. */
export function PasswordForm({ user }: { user: User }) {
  const { client } = useApp()
  const { password } = accountTexts.value
  const action = useAction(async (form: HTMLFormElement) => {
    const { current_password = '', new_password = '' } = fieldsOf(form)
    await client.auth.changePassword({ current_password, new_password })
    form.reset()
    showToast(password.done)
  })
  return (
    <section>
      <h3>{password.title}</h3>
      <Form action={action} button={password.button}>
        {/* For password managers: whose password it is. */}
        <input type="email" name="email" autocomplete="username" value={user.email} readOnly hidden />
        <Field
          label={password.current}
          name="current_password"
          type="password"
          autocomplete="current-password"
          required
        />
        <PasswordField
          label={password.next}
          name="new_password"
          autocomplete="new-password"
          hint={texts.value.fields.password_hint}
        />
      </Form>
    </section>
  )
}
