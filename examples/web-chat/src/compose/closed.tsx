import { canOf } from 'chat-server/client/parts'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { titleOf } from '../conversations/title.ts'
import type { OpenConversation } from '../conversations/use-conversation.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { roomTexts } from '../texts/room.ts'
import { texts } from '../texts/texts.ts'

interface ClosedProps {
  conversation: OpenConversation
  act: 'post' | 'reply'
}

/** Why the user writes nothing here, in the place of the box. */
export function Closed({ conversation, act }: ClosedProps) {
  if (conversation.joined === false) return <JoinBar conversation={conversation} />
  return <p class="quiet closed">{reasonOf(conversation, act)}</p>
}

/** For a user who reads an open room without participating. */
function JoinBar({ conversation: { id, can, frozen_at } }: Pick<ClosedProps, 'conversation'>) {
  const { client, store } = useApp()
  const { closed: words, browse } = roomTexts.value
  const join = useAction(async () => {
    await client.conversations.join(id)
    void canOf(store).conversation(id).reload()
    void store.conversations.reload()
  })
  const isOpen = can.includes('join')
  return (
    <div class="closed join-bar">
      <p class="quiet">{isOpen ? words.join : frozen_at ? words.frozen : words.by_invite}</p>
      {isOpen && (
        <button type="button" class="primary" disabled={join.isRunning} onClick={() => void join.run()}>
          {browse.join}
        </button>
      )}
      <ErrorNote error={join.error} />
    </div>
  )
}

function reasonOf(conversation: OpenConversation, act: 'post' | 'reply'): string {
  const { closed: words } = roomTexts.value
  if (conversation.frozen_at) return words.frozen
  const allowed = conversation.policy[act]
  if (allowed && allowed !== 'everyone') return words[act][allowed]
  // A user who may only read may do nothing at all in it.
  if (conversation.direct && conversation.can.length > 0) return words.left(titleOf(conversation))
  return texts.value.composer.viewer
}
