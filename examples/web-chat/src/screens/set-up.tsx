import { ChatError } from 'chat-server/client'
import { useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { goTo } from '../app/route.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Field, fieldsOf } from '../parts/field.tsx'
import { entryTexts } from '../texts/entry.ts'
import { texts } from '../texts/texts.ts'
import { Card } from './card.tsx'
import { PasswordField } from './password-field.tsx'

/** The first account of a new service. */
export function SetUp() {
  const { brand, client, session } = useApp()
  const { fields } = texts.value
  const { setUp } = entryTexts.value
  // Asked for once the service has said that it wants one: most are not reachable from outside yet, and have none.
  const [needsCode, setNeedsCode] = useState(false)
  const openFirstRoom = async () => {
    const created = client.conversations.create({ title: setUp.room, ref: 'general' })
    const id = await created.then(({ conversation_id }) => conversation_id, findGeneral).catch(() => undefined)
    // Without it, the chat begins empty: a room can still be created there.
    if (id !== undefined) goTo({ name: 'conversation', conversation_id: id }, { replace: true })
  }
  const findGeneral = async () => (await client.conversations.list({ ref: 'general' })).conversations[0]?.id
  const { run, isRunning, error } = useAction(async (form: HTMLFormElement) => {
    const { email = '', password = '', display_name, setup_code } = fieldsOf(form)
    try {
      const account = { email, password, ...(display_name && { display_name }), ...(setup_code && { setup_code }) }
      await session.setUp(account, openFirstRoom)
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
