import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Icon } from '../parts/icon.tsx'
import { roomTexts } from '../texts/room.ts'
import { MadeInvite } from './made-invite.tsx'
import { titleOf } from './title.ts'
import type { OpenConversation } from './use-conversation.ts'
import { INVITE_USES, useInvite } from './use-invite.ts'

/** What an empty room shows who may invite: a link for others, and something to ask. It goes with the first message. */
export function Greeting({ conversation }: { conversation: OpenConversation }) {
  const { store, features } = useApp()
  const { id } = conversation
  const { greeting, invites } = roomTexts.value
  const { made, create, revoke } = useInvite(id)
  const ask = useAction(() => store.post({ conversation_id: id, content: greeting.question, role: 'assistant' }))
  return (
    <div class="empty greeting">
      <h3 dir="auto">{greeting.title(titleOf(conversation))}</h3>
      <p>{greeting.text}</p>
      {made ? (
        <>
          <MadeInvite invite={made} />
          <button type="button" disabled={revoke.isRunning} onClick={() => void revoke.run(made.id)}>
            {invites.revoke}
          </button>
        </>
      ) : (
        <button
          type="button"
          class="primary"
          disabled={create.isRunning}
          onClick={() => void create.run(Math.max(...INVITE_USES))}
        >
          <Icon name="link" />
          {invites.copy}
        </button>
      )}
      <ErrorNote error={create.error ?? revoke.error ?? ask.error} />
      {features.assistant && (
        <p class="try">
          {greeting.try}{' '}
          <button type="button" class="link" disabled={ask.isRunning} onClick={() => void ask.run()}>
            {greeting.question}
          </button>
        </p>
      )}
    </div>
  )
}
