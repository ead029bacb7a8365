import { ChatError } from 'chat-server/client'
import { useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { hrefOf, type MailedRoute } from '../app/route.ts'
import { fieldsOf } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { entryTexts } from '../texts/entry.ts'
import { Card } from './card.tsx'
import { PasswordField } from './password-field.tsx'

/** How tokens of mails are written: of a link that was cut off, it is said before any form. */
const TOKEN = /^[\w-]{43}$/

/** What a mailed link does, once its button is pressed: programs that look through mails open links, too. */
export function Mailed({ name, token }: MailedRoute) {
  const { brand, client, session } = useApp()
  const [isDone, setDone] = useState(false)
  const { mailed, join } = entryTexts.value
  const { title, text, button, done } = mailed[name]
  const action = useAction(async (form: HTMLFormElement) => {
    if (name === 'verify') await client.emails.verify({ token })
    else if (name === 'change-email') await client.emails.confirmChange({ token })
    else if (name === 'undo') await client.emails.undoChange({ token })
    else await client.resets.redeem({ token, password: fieldsOf(form).password ?? '' })
    setDone(true)
    // The session of this browser may be one that has ended by it, and the account another one now.
    if (session.user.value) await client.auth.me().then(({ user }) => session.update(user), session.end)
  })
  const open = (
    <a class="button primary" href={hrefOf({ name: 'home' })}>
      {join.open(brand.name)}
    </a>
  )
  if (!TOKEN.test(token) || (action.error instanceof ChatError && action.error.status === 404))
    return (
      <Card key="worthless" brand={brand} title={mailed.worthless}>
        <p role="alert">{mailed.worthless_text}</p>
        {open}
      </Card>
    )
  return (
    <Card brand={brand} title={title}>
      {isDone ? (
        <>
          <p role="status">{done}</p>
          {open}
        </>
      ) : (
        <>
          <p>{text}</p>
          <Form action={action} button={button}>
            {name === 'reset' && <PasswordField autocomplete="new-password" label={mailed.new_password} />}
          </Form>
        </>
      )}
    </Card>
  )
}
