import type { InvitedNewcomer, Newcomer } from 'chat-server/client/admin'
import { useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { linkTo } from '../app/route.ts'
import { titleOf } from '../conversations/title.ts'
import { Confirm } from '../parts/confirm.tsx'
import { Field, fieldsOf } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { OnceShown } from '../parts/once-shown.tsx'
import { PagesEnd, usePages } from '../parts/pages.tsx'
import { showToast } from '../parts/toast.tsx'
import { administrationTexts } from '../texts/settings.ts'
import { texts } from '../texts/texts.ts'
import { shortTime } from '../texts/time.ts'
import { useAdmin } from './admin.ts'
import { choiceOf, nameOfChoice, type RoleChoice, RoleSelect, rolesOf } from './role.tsx'

/** How many rooms of an invite the service takes, and how many of the latest are offered. */
const MAX_ROOMS = 10
const MAX_OFFERED = 50

/** Invites newcomers to the service, by mail or with a link to hand over. */
export function Invites() {
  const admin = useAdmin()
  const { features, store } = useApp()
  const { conversations } = useReadable(store.conversations)
  const { invites: words, users } = administrationTexts.value
  const [role, setRole] = useState<RoleChoice>('member')
  const [isMailed, setMailed] = useState(features.mail)
  const [chosen, setChosen] = useState<readonly string[]>()
  const [shown, setShown] = useState<InvitedNewcomer>()
  const [revoking, setRevoking] = useState<Newcomer>()
  const pages = usePages(async (after, signal) => {
    const { invites, next_after } = await admin.newcomers.list({ ...(after && { after }) }, { signal })
    return { items: invites, next_after }
  })
  const rooms = conversations.filter(({ direct, role }) => !direct && (role === 'owner' || role === 'admin'))
  const picked = chosen ?? rooms.filter(({ ref }) => ref === 'general').map(({ id }) => id)
  const toggle = (id: string) => setChosen(picked.includes(id) ? picked.filter((each) => each !== id) : [...picked, id])
  const invite = useAction(async (form: HTMLFormElement) => {
    const { email = '' } = fieldsOf(form)
    const invited = await admin.newcomers.invite({
      email,
      roles: rolesOf(role),
      mail: isMailed,
      conversation_ids: [...picked],
    })
    form.reset()
    pages.reload()
    if (invited.token) setShown(invited)
    else showToast(words.mailed(invited.email))
  })
  return (
    <>
      <p class="hint">{words.text}</p>
      {features.sign_up ? (
        <Form action={invite} button={words.create}>
          <Field label={texts.value.fields.email} name="email" type="email" autocomplete="off" required />
          <RoleSelect value={role} onChange={setRole} />
          {rooms.length > 0 && (
            <fieldset class="rooms">
              <legend>{words.rooms}</legend>
              {rooms.slice(0, MAX_OFFERED).map((room) => (
                <label key={room.id} class="check">
                  <input
                    type="checkbox"
                    checked={picked.includes(room.id)}
                    disabled={picked.length >= MAX_ROOMS && !picked.includes(room.id)}
                    onChange={() => toggle(room.id)}
                  />
                  <bdi>{titleOf(room)}</bdi>
                </label>
              ))}
            </fieldset>
          )}
          {features.mail && (
            <label class="check">
              <input type="checkbox" checked={isMailed} onChange={() => setMailed(!isMailed)} />
              {words.by_mail}
            </label>
          )}
        </Form>
      ) : (
        <p class="quiet">{texts.value.errors.codes.signup_disabled}</p>
      )}
      <ul class="items">
        {pages.items?.map((each) => (
          <li key={each.id}>
            <span class="name">
              <strong>{each.email}</strong>
              <small>
                {nameOfChoice(choiceOf(each.roles))} · {words.until(shortTime(each.expires_at))}
              </small>
            </span>
            <button type="button" aria-label={words.revoke_of(each.email)} onClick={() => setRevoking(each)}>
              {words.revoke}
            </button>
          </li>
        ))}
      </ul>
      <PagesEnd pages={pages} none={words.none} />
      {shown && (
        <OnceShown
          title={words.link_title(shown.email)}
          text={words.link_text(shortTime(shown.expires_at))}
          label={users.link}
          value={shown.url ?? linkTo({ name: 'welcome', token: shown.token! })}
          copyLabel={users.copy}
          onClose={() => setShown(undefined)}
        />
      )}
      {revoking && (
        <Confirm
          title={words.revoke_title(revoking.email)}
          text={words.revoke_text}
          button={words.revoke}
          act={() => admin.newcomers.revoke(revoking.id).then(pages.reload)}
          onClose={() => setRevoking(undefined)}
        />
      )}
    </>
  )
}
