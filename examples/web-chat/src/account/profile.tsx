import type { User } from 'chat-server/client'
import { useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { hasOwnSignIn } from '../app/own-sign-in.ts'
import { nameOf } from '../app/people.ts'
import { Avatar } from '../parts/avatar.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { Field, fieldsOf } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { showToast } from '../parts/toast.tsx'
import { accountTexts } from '../texts/settings.ts'
import { texts } from '../texts/texts.ts'
import { useConfirmed } from './confirmed.tsx'
import { OwnPhoto } from './own-photo.tsx'

/** The photo and the names of the user, and the address. */
export function Profile({ user }: { user: User }) {
  const app = useApp()
  const { profile } = accountTexts.value
  const isOwn = hasOwnSignIn(app)
  return (
    <>
      <p class="identity">
        <Avatar id={user.id} name={nameOf(user)} photo={user.avatar_url} />
        <span class="name">
          <strong dir="auto">{nameOf(user)}</strong>
          <small>
            <bdi>@{user.username}</bdi>
          </small>
        </span>
      </p>
      <OwnPhoto user={user} />
      {isOwn ? <Names user={user} /> : <p class="quiet">{profile.of_host}</p>}
      {isOwn && <Email user={user} />}
    </>
  )
}

function Names({ user }: { user: User }) {
  const { client, session } = useApp()
  const { profile, saved } = accountTexts.value
  const action = useAction(async (form: HTMLFormElement) => {
    const { username = '', display_name = '' } = fieldsOf(form)
    const changed = await client.auth.changeProfile({ username, display_name })
    session.update(changed.user)
    showToast(saved)
  })
  return (
    <Form action={action} button={texts.value.save}>
      <Field
        label={texts.value.fields.display_name}
        name="display_name"
        autocomplete="name"
        maxLength={200}
        defaultValue={user.display_name ?? ''}
        hint={profile.name_hint}
      />
      <Field
        label={texts.value.fields.username}
        name="username"
        autocomplete="nickname"
        maxLength={64}
        defaultValue={user.username}
        hint={profile.username_hint}
        required
      />
    </Form>
  )
}

function Email({ user }: { user: User }) {
  const { client, features } = useApp()
  const { profile } = accountTexts.value
  const [sentTo, setSentTo] = useState<string>()
  const verify = useAction(async () => {
    await client.emails.sendVerification()
    showToast(profile.verify_sent)
  })
  const change = useConfirmed(async (form: HTMLFormElement) => {
    const { email = '' } = fieldsOf(form)
    await client.emails.requestChange({ email })
    setSentTo(email)
    form.reset()
  })
  return (
    <section>
      <h3>{profile.email}</h3>
      {user.email && (
        <p class="address">
          {user.email} <span class="tag">{user.email_verified ? profile.verified : profile.not_verified}</span>
        </p>
      )}
      {features.mail && user.email && !user.email_verified && (
        <button type="button" disabled={verify.isRunning} onClick={() => void verify.run()}>
          {profile.verify}
        </button>
      )}
      <ErrorNote error={verify.error} />
      {features.mail && (
        <Form action={change.action} button={profile.change_email}>
          <Field label={profile.new_email} name="email" type="email" hint={profile.new_email_hint} required />
        </Form>
      )}
      {sentTo && <p role="status">{profile.change_sent(sentTo)}</p>}
      {change.dialog}
    </section>
  )
}
