import { useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Field, fieldsOf } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { entryTexts } from '../texts/entry.ts'
import { texts } from '../texts/texts.ts'
import { PasswordField } from './password-field.tsx'

/** Offers a guest to sign in: then all that the guest has written is theirs. */
export function GuestNote() {
  const [isOpen, setOpen] = useState(false)
  const { guest: words } = entryTexts.value
  return (
    <p class="update" role="status">
      {words.text}{' '}
      <button type="button" class="link" onClick={() => setOpen(true)}>
        {words.sign_in}
      </button>
      {isOpen && <Claim onClose={() => setOpen(false)} />}
    </p>
  )
}

function Claim({ onClose }: { onClose: () => void }) {
  const { session } = useApp()
  const { guest: words, signIn } = entryTexts.value
  const claim = useAction(async (form: HTMLFormElement) => {
    const { email = '', password = '' } = fieldsOf(form)
    await session.signIn(email, password, { claims: true })
    onClose()
  })
  return (
    <Dialog title={words.sign_in} focus="field" onClose={onClose}>
      <p>{words.claim}</p>
      <Form action={claim} button={signIn.button}>
        <Field label={texts.value.fields.email} name="email" type="email" autocomplete="username" required />
        <PasswordField autocomplete="current-password" />
      </Form>
    </Dialog>
  )
}
