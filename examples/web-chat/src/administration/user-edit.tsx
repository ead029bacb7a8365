import type { Account } from 'chat-server/client/admin'
import { useState } from 'preact/hooks'
import { useConfirmed } from '../account/confirmed.tsx'
import { useApp } from '../app/context.ts'
import { Field, fieldsOf } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { showToast } from '../parts/toast.tsx'
import { administrationTexts } from '../texts/settings.ts'
import { texts } from '../texts/texts.ts'
import { useAdmin } from './admin.ts'
import { choiceOf, RoleSelect, rolesOf } from './role.tsx'

/** The names, the address and the role of a user; only what differs is changed. */
export function UserEdit({ account, onChanged }: { account: Account; onChanged: () => void }) {
  const admin = useAdmin()
  const { session, client } = useApp()
  const { users: words } = administrationTexts.value
  const { fields } = texts.value
  const [role, setRole] = useState(choiceOf(account.roles))
  const { action, dialog } = useConfirmed(async (form: HTMLFormElement) => {
    const { username = '', email = '', display_name = '' } = fieldsOf(form)
    await admin.users.change(account.id, {
      ...(username !== account.username && { username }),
      ...(email !== (account.email ?? '') && { email }),
      ...(display_name !== (account.display_name ?? '') && { display_name }),
      ...(role !== choiceOf(account.roles) && { roles: rolesOf(role) }),
    })
    showToast(words.saved)
    if (account.id === session.user.value?.id) session.update((await client.auth.me()).user)
    onChanged()
  })
  return (
    <section>
      <h3>{words.facts}</h3>
      <Form action={action} button={words.save}>
        <Field
          label={fields.username}
          name="username"
          autocomplete="off"
          maxLength={64}
          defaultValue={account.username}
          required
        />
        <Field
          label={fields.email}
          name="email"
          type="email"
          autocomplete="off"
          defaultValue={account.email ?? ''}
          required={account.email !== undefined}
        />
        <Field
          label={words.display_name}
          name="display_name"
          autocomplete="off"
          maxLength={200}
          defaultValue={account.display_name ?? ''}
        />
        <RoleSelect value={role} onChange={setRole} />
      </Form>
      {dialog}
    </section>
  )
}
