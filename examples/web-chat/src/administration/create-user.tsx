import type { Account } from 'chat-server/client/admin'
import { useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Field, fieldsOf } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { administrationTexts } from '../texts/settings.ts'
import { texts } from '../texts/texts.ts'
import { useAdmin } from './admin.ts'
import { type RoleChoice, RoleSelect, rolesOf } from './role.tsx'

/** Creates an account, with a password or without. */
export function CreateUser({ onCreated, onClose }: { onCreated: (account: Account) => void; onClose: () => void }) {
  const admin = useAdmin()
  const { users: words } = administrationTexts.value
  const { fields } = texts.value
  const [role, setRole] = useState<RoleChoice>('member')
  const action = useAction(async (form: HTMLFormElement) => {
    const { username = '', email = '', display_name, password } = fieldsOf(form)
    const optional = { ...(display_name && { display_name }), ...(password && { password }) }
    const { user } = await admin.users.create({ username, email, roles: rolesOf(role), ...optional })
    onClose()
    onCreated(user)
  })
  return (
    <Dialog title={words.create} focus="field" onClose={onClose}>
      <Form action={action} button={words.create}>
        <Field label={fields.username} name="username" autocomplete="off" maxLength={64} required />
        <Field label={fields.email} name="email" type="email" autocomplete="off" required />
        <Field
          label={words.display_name}
          name="display_name"
          maxLength={200}
          autocomplete="off"
          hint={fields.optional}
        />
        <Field
          label={fields.password}
          name="password"
          type="password"
          autocomplete="new-password"
          hint={words.password_hint}
        />
        <RoleSelect value={role} onChange={setRole} />
      </Form>
    </Dialog>
  )
}
