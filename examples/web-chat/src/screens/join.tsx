import { ChatError, type InvitePreview } from 'chat-server/client'
import { useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { nameOf } from '../app/people.ts'
import { goTo, hrefOf } from '../app/route.ts'
import { ErrorNote, messageOf } from '../parts/error-note.tsx'
import { Field, fieldsOf } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { useLoad } from '../parts/load.ts'
import { Waiting } from '../parts/waiting.tsx'
import { entryTexts } from '../texts/entry.ts'
import { texts } from '../texts/texts.ts'
import { Card } from './card.tsx'
import { HostSignIn } from './host-sign-in.tsx'
import { PasswordField } from './password-field.tsx'
import { SignIn } from './sign-in.tsx'

/** An invite: what it is for, or what is wrong with it, before any form. */
export function Join({ token }: { token: string }) {
  const { brand, client } = useApp()
  const { value: invite, error, reload } = useLoad((signal) => client.invites.preview({ token }, { signal }))
  const { broken, ask, open } = entryTexts.value.join
  if (invite) return <Invite token={token} invite={invite} />
  if (error === undefined)
    return (
      <Card brand={brand} title="…">
        <Waiting />
      </Card>
    )
  const isFinal = error instanceof ChatError && (error.status === 404 || error.code.startsWith('invite_'))
  return (
    <Card brand={brand} title={isFinal ? broken : brand.name}>
      {isFinal ? (
        <p role="alert">
          {messageOf(error)} {ask}
        </p>
      ) : (
        <ErrorNote error={error} />
      )}
      {!isFinal && (
        <button type="button" class="primary" onClick={reload}>
          {texts.value.retry}
        </button>
      )}
      <a href={hrefOf({ name: 'home' })}>{open(brand.name)}</a>
    </Card>
  )
}

/** Who is signed in joins; a newcomer creates an account first. */
function Invite({ token, invite }: { token: string; invite: InvitePreview }) {
  const { brand, client, features, session } = useApp()
  const { fields } = texts.value
  const { join } = entryTexts.value
  const user = session.user.value
  const isService = invite.kind === 'service'
  const [hasAccount, setHasAccount] = useState(!invite.can_sign_up)
  const toFirstRoom = async (invited_to?: string) => {
    const conversation_id = invited_to ?? (await client.conversations.list({ limit: 1 })).conversations[0]?.id
    goTo(conversation_id ? { name: 'conversation', conversation_id } : { name: 'home' }, { replace: true })
  }
  const action = useAction(async (form?: HTMLFormElement) => {
    const { display_name = '', email, password = '' } = form ? fieldsOf(form) : {}
    if (isService) return session.signUp(token, { display_name, password }, toFirstRoom)
    const conversation_id = await session.join(token, form && { display_name, password, ...(email && { email }) })
    goTo({ name: 'conversation', conversation_id }, { replace: true })
  })
  const leave = useAction(() => session.signOut())
  const title = join.title(isService ? brand.name : invite.title || join.untitled)
  const by = invite.invited_by && <p dir="auto">{join.by(nameOf(invite.invited_by))}</p>

  if (user)
    return (
      <Card brand={brand} title={title}>
        {by}
        <p dir="auto">{isService ? join.elsewhere(nameOf(user)) : join.as(nameOf(user))}</p>
        <ErrorNote error={action.error} />
        {isService ? (
          <button type="button" disabled={leave.isRunning} onClick={() => void leave.run()}>
            {join.sign_out}
          </button>
        ) : (
          <button type="button" class="primary" disabled={action.isRunning} onClick={() => void action.run()}>
            {join.button}
          </button>
        )}
      </Card>
    )
  if (!features.sign_in || brand.sign_in_url !== undefined) return <HostSignIn title={title}>{by}</HostSignIn>
  if (hasAccount)
    return (
      <SignIn title={title}>
        {by}
        {!invite.can_sign_up && <p>{join.needs_account}</p>}
      </SignIn>
    )
  return (
    <Card brand={brand} title={title}>
      {by}
      <p>{join.text}</p>
      <Form action={action} button={join.button}>
        <Field label={fields.display_name} name="display_name" autocomplete="name" maxLength={100} required />
        <Field
          label={fields.email}
          name="email"
          type="email"
          autocomplete="username"
          defaultValue={invite.email}
          readOnly={invite.email !== undefined}
          required
        />
        <PasswordField autocomplete="new-password" hint={fields.password_hint} />
      </Form>
      {!isService && (
        <button type="button" class="link" onClick={() => setHasAccount(true)}>
          {join.have_account}
        </button>
      )}
    </Card>
  )
}
