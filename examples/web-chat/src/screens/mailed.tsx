import { ChatError } from 'chat-server/client'
import { useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { hrefOf, type MailedRoute } from '../app/route.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { fieldsOf } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { useLoad } from '../parts/load.ts'
import { Waiting } from '../parts/waiting.tsx'
import { entryTexts } from '../texts/entry.ts'
import { texts } from '../texts/texts.ts'
import { Card } from './card.tsx'
import { PasswordField } from './password-field.tsx'

/** The names of the links in the API. */
const LINKS = {
  reset: 'reset_password',
  verify: 'verify_email',
  'change-email': 'change_email',
  undo: 'undo_email',
} as const

/** Whether a link is unknown, cut off, expired or used. */
function isWorthless(error: unknown): boolean {
  return error instanceof ChatError && (error.status === 404 || error.status === 422)
}

/** A mailed link: what it does, or that it does not work, before any form. */
export function Mailed({ name, token }: MailedRoute) {
  const { brand, client } = useApp()
  const { mailed, join } = entryTexts.value
  const {
    value: works,
    error,
    reload,
  } = useLoad(async (signal) => {
    await client.emails.checkLink({ link: LINKS[name], token }, { signal })
    return true
  })
  if (works) return <MailedForm name={name} token={token} />
  if (isWorthless(error)) return <Worthless />
  return (
    <Card brand={brand} title={mailed[name].title}>
      {error === undefined ? (
        <Waiting />
      ) : (
        <>
          <ErrorNote error={error} />
          <button type="button" class="primary" onClick={reload}>
            {texts.value.retry}
          </button>
          <a href={hrefOf({ name: 'home' })}>{join.open(brand.name)}</a>
        </>
      )}
    </Card>
  )
}

function Worthless() {
  const { brand } = useApp()
  const { mailed } = entryTexts.value
  return (
    <Card brand={brand} title={mailed.worthless}>
      <p role="alert">{mailed.worthless_text}</p>
      <Open />
    </Card>
  )
}

function Open() {
  const { brand } = useApp()
  return (
    <a class="button primary" href={hrefOf({ name: 'home' })}>
      {entryTexts.value.join.open(brand.name)}
    </a>
  )
}

/** Does it once its button is pressed: programs that look through mails open links, too. */
function MailedForm({ name, token }: MailedRoute) {
  const { brand, client, session } = useApp()
  const [isDone, setDone] = useState(false)
  const { mailed } = entryTexts.value
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
  // Used in the meantime.
  if (action.error instanceof ChatError && action.error.status === 404) return <Worthless />
  return (
    <Card brand={brand} title={title}>
      {isDone ? (
        <>
          <p role="status">{done}</p>
          <Open />
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
