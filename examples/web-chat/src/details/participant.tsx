import type { Participant } from 'chat-server/client'
import { useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { nameOf } from '../app/people.ts'
import { Avatar, PresenceText } from '../parts/avatar.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { Select } from '../parts/select.tsx'
import { roleName } from '../people/role-name.ts'
import { roomTexts } from '../texts/room.ts'
import { texts } from '../texts/texts.ts'
import { mayGive } from './managing.ts'

type Role = Participant['role']

interface ParticipantProps {
  conversation_id: string
  participant: Participant
  status: Participant['presence']['status']
  /** Of the user in the conversation, if it has roles that the user may change. */
  managedBy: Role | undefined
  isSelf: boolean
  onChanged: () => void
}

/** A participant with the role, which is changed by those who manage and have every right of it. */
export function ParticipantItem(props: ParticipantProps) {
  const { conversation_id, participant, status, managedBy, isSelf, onChanged } = props
  const { client, features } = useApp()
  const { people } = roomTexts.value
  const { user_id, role, username, kind } = participant
  const [isRemoving, setRemoving] = useState(false)
  const change = useAction(async (next: Role) => {
    await client.participants.changeRole(conversation_id, user_id, { role: next })
    onChanged()
  })
  const name = nameOf(participant)
  const mayChange = mayGive(features, managedBy, role)
  const offered = features.access.participant_roles.flatMap((each) =>
    mayGive(features, managedBy, each.name) ? each.name : [],
  )
  return (
    <li>
      <Avatar id={user_id} name={name} presence={status} />
      <span class="name" dir="auto">
        {name} <PresenceText presence={status} />
        {kind === 'guest' && <span class="tag">{texts.value.is_guest}</span>}
        {kind === 'bot' && <span class="tag">{people.bot}</span>}
        <small>
          <bdi>@{username}</bdi>
        </small>
      </span>
      {mayChange ? (
        <Select
          label={people.role_of(name)}
          isLabelHidden
          value={role}
          disabled={change.isRunning}
          options={[...new Set([...offered, role])].map((each) => [each, roleName(each)])}
          onChange={(next) => void change.run(next)}
        />
      ) : (
        <span class="role">{roleName(role)}</span>
      )}
      {mayChange && !isSelf && (
        <IconButton icon="trash" label={people.remove(name)} onClick={() => setRemoving(true)} />
      )}
      <ErrorNote error={change.error} />
      {isRemoving && (
        <Confirm
          title={people.remove_title(name)}
          text={people.remove_text}
          button={people.remove_button}
          act={() => client.participants.remove(conversation_id, user_id).then(onChanged)}
          onClose={() => setRemoving(false)}
        />
      )}
    </li>
  )
}
