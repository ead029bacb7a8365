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

/** Why the user writes nothing here, in the place of the box; and how to, where that takes only to join. */
export function Closed({ conversation, act }: ClosedProps) {
  const { client, store } = useApp()
  const { closed: words } = roomTexts.value
  const { id, can } = conversation
  const join = useAction(async () => {
    await client.conversations.join(id)
    await store.conversations.reload()
  })
  if (!can.includes('join')) return <p class="quiet closed">{reasonOf(conversation, act)}</p>
  return (
    <div class="closed">
      <p>{words.join_text}</p>
      <button type="button" class="primary" disabled={join.isRunning} onClick={() => void join.run()}>
        {words.join}
      </button>
      <ErrorNote error={join.error} />
    </div>
  )
}

function reasonOf(conversation: OpenConversation, act: 'post' | 'reply'): string {
  const { closed: words } = roomTexts.value
  if (conversation.frozen_at) return words.frozen
  const allowed = conversation.policy[act]
  if (allowed && allowed !== 'everyone') return words[act][allowed]
  if (conversation.direct) return words.left(titleOf(conversation))
  return texts.value.composer.viewer
}
