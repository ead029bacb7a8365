import type { Participant } from 'chat-server/client'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { Dialog } from '../parts/dialog.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { Field, fieldsOf } from '../parts/field.tsx'
import { texts } from '../texts/texts.ts'
import { AddPerson } from './add-person.tsx'
import { InviteLinks } from './invite-links.tsx'
import { ParticipantItem } from './participant.tsx'
import type { OpenConversation } from './use-conversation.ts'

/** Who takes part in a conversation, and for those who may: its name, further people, and an invite. */
export function PeopleDialog({ conversation, onClose }: { conversation: OpenConversation; onClose: () => void }) {
  const { id, role, title, direct } = conversation
  const { client, people, session, presence: live } = useApp()
  const [participants, setParticipants] = useState<Participant[]>([])
  const load = useAction(async () => setParticipants(await people.load(id)))
  const presence = useReadable(live.presence(useMemo(() => participants.map(({ user_id }) => user_id), [participants])))
  const rename = useAction((form: HTMLFormElement) =>
    client.conversations.rename(id, { title: fieldsOf(form).title ?? '' }),
  )
  useEffect(() => void load.run(), [conversation.participant_count])
  const { people: words, save } = texts.value
  const mayManage = !direct && (role === 'owner' || role === 'admin')

  return (
    <Dialog title={words.title} onClose={onClose}>
      <ErrorNote error={load.error} />
      <ul class="participants">
        {participants.map((each) => {
          const status = presence[each.user_id]?.status ?? each.presence.status
          return (
            <ParticipantItem
              key={each.user_id}
              conversation_id={id}
              participant={each}
              status={status}
              managedBy={mayManage ? role : undefined}
              isSelf={each.user_id === session.user.value?.id}
              onChanged={() => void load.run()}
            />
          )
        })}
      </ul>
      {mayManage && (
        <>
          <AddPerson conversation_id={id} participants={participants} onAdded={() => void load.run()} />
          <InviteLinks conversation_id={id} />
        </>
      )}
      {!direct && role === 'owner' && (
        <form
          class="one-line"
          onSubmit={(event) => {
            event.preventDefault()
            void rename.run(event.currentTarget)
          }}
        >
          <Field label={words.rename} name="title" defaultValue={title} maxLength={200} required />
          <button type="submit" disabled={rename.isRunning}>
            {save}
          </button>
          <ErrorNote error={rename.error} />
        </form>
      )}
    </Dialog>
  )
}
