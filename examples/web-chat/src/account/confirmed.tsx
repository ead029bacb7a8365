import { ChatError } from 'chat-server/client'
import type { VNode } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { type Action, useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { Dialog } from '../parts/dialog.tsx'
import { fieldsOf } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { PasswordField } from '../screens/password-field.tsx'
import { accountTexts } from '../texts/settings.ts'

/** An action that the service may want confirmed with the password; then it is done again. Show the dialog somewhere. */
export function useConfirmed<Args extends unknown[]>(
  act: (...args: Args) => Promise<unknown>,
): { action: Action<Args>; dialog: VNode | null } {
  const [isAsking, setAsking] = useState(false)
  const last = useRef<Args>(undefined)
  const action = useAction(async (...args: Args) => {
    last.current = args
    try {
      await act(...args)
    } catch (error) {
      if (!(error instanceof ChatError) || error.code !== 'confirmation_required') throw error
      setAsking(true)
    }
  })
  const dialog = isAsking ? (
    <ConfirmPassword
      onConfirmed={() => {
        setAsking(false)
        void action.run(...last.current!)
      }}
      onClose={() => setAsking(false)}
    />
  ) : null
  return { action, dialog }
}

function ConfirmPassword({ onConfirmed, onClose }: { onConfirmed: () => void; onClose: () => void }) {
  const { client } = useApp()
  const { password } = accountTexts.value
  const action = useAction(async (form: HTMLFormElement) => {
    await client.auth.confirm({ password: fieldsOf(form).password ?? '' })
    onConfirmed()
  })
  return (
    <Dialog title={password.confirm_title} focus="field" onClose={onClose}>
      <p>{password.confirm_text}</p>
      <Form action={action} button={password.confirm_button}>
        <PasswordField autocomplete="current-password" />
      </Form>
    </Dialog>
  )
}
