import { canOf } from 'chat-server/client/parts'
import { useMemo } from 'preact/hooks'
import { OwnPhoto } from '../account/own-photo.tsx'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { nameOf } from '../app/people.ts'
import { useReadable } from '../app/readable.ts'
import { goTo, hrefOf } from '../app/route.ts'
import { Avatar } from '../parts/avatar.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { Icon } from '../parts/icon.tsx'
import { profileTexts } from '../texts/settings.ts'
import { texts } from '../texts/texts.ts'
import { insertMention } from './insert-mention.ts'
import { roleName } from './role-name.ts'
import { type ShownProfile, shownProfile } from './shown-profile.ts'

/** Who a person is, and how to reach them. */
export function ProfileCard({ user_id, conversation_id }: ShownProfile) {
  const { store, people, presence, session } = useApp()
  const { can } = useReadable(canOf(store).service)
  const here = useReadable(presence.presence(useMemo(() => [user_id], [user_id])))
  const participant = people.of(conversation_id).find((each) => each.user_id === user_id)
  const person = participant ?? people.known.value.get(user_id)
  const words = profileTexts.value
  const name = nameOf(person)
  const isSelf = session.user.value?.id === user_id
  const status = here[user_id]?.status ?? participant?.presence.status
  const close = () => {
    shownProfile.value = undefined
  }
  const message = useAction(async () => {
    const { conversation } = await store.openDirect({ user_id })
    close()
    goTo({ name: 'conversation', conversation_id: conversation.id })
  })
  return (
    <Dialog title={name} onClose={close}>
      <div class="profile-card">
        <Avatar id={user_id} name={name} photo={person?.avatar_url} presence={status} />
        <p>
          {person && <bdi>@{person.username}</bdi>}
          {status && <span>{texts.value.conversations[status]}</span>}
          {participant && <span>{roleName(participant.role)}</span>}
          {participant?.kind === 'guest' && <span>{texts.value.is_guest}</span>}
        </p>
      </div>
      {isSelf && <OwnPhoto user={session.user.value!} />}
      <ErrorNote error={message.error} />
      <div class="toolbar">
        {isSelf && (
          <a class="button" href={hrefOf({ name: 'account', tab: 'profile' })} onClick={close}>
            <Icon name="settings" />
            {words.edit}
          </a>
        )}
        {!isSelf && can?.open_direct && (
          <button type="button" class="primary" disabled={message.isRunning} onClick={() => void message.run()}>
            <Icon name="chat" />
            {words.message}
          </button>
        )}
        {!isSelf && participant && (
          <button
            type="button"
            onClick={() => {
              close()
              insertMention(participant.username)
            }}
          >
            {words.mention}
          </button>
        )}
      </div>
    </Dialog>
  )
}
