import type { Participant } from 'chat-server/client'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { AddPerson } from './add-person.tsx'
import type { TabProps } from './pane.tsx'
import { ParticipantItem } from './participant.tsx'

/** Who takes part in a conversation, and for those who look after it: further people, and their roles. */
export function People({ conversation, user }: TabProps) {
  const { id, can } = conversation
  const { people, presence: live } = useApp()
  const [read, setParticipants] = useState<Participant[]>()
  const participants = read ?? []
  const load = useAction(async () => setParticipants(await people.load(id)))
  const presence = useReadable(live.presence(useMemo(() => participants.map(({ user_id }) => user_id), [read])))
  useEffect(() => void load.run(), [conversation.participant_count])
  const own = participants.find(({ user_id }) => user_id === user.id)

  return (
    <>
      {can.includes('add') && (
        <AddPerson conversation_id={id} participants={participants} onAdded={() => void load.run()} />
      )}
      {!read && load.error === undefined && <Waiting kind="item" />}
      <ErrorNote error={load.error} onRetry={() => void load.run()} />
      <ul class="participants">
        {participants.map((each) => {
          const status = presence[each.user_id]?.status ?? each.presence.status
          return (
            <ParticipantItem
              key={each.user_id}
              conversation_id={id}
              participant={each}
              status={status}
              managedBy={can.includes('manage') ? own?.role : undefined}
              isSelf={each.user_id === user.id}
              onChanged={() => void load.run()}
            />
          )
        })}
      </ul>
    </>
  )
}
