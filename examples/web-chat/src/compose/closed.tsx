import { titleOf } from '../conversations/title.ts'
import type { OpenConversation } from '../conversations/use-conversation.ts'
import { roomTexts } from '../texts/room.ts'
import { texts } from '../texts/texts.ts'

interface ClosedProps {
  conversation: OpenConversation
  act: 'post' | 'reply'
}

/** Why the user writes nothing here, in the place of the box. */
export function Closed({ conversation, act }: ClosedProps) {
  return <p class="quiet closed">{reasonOf(conversation, act)}</p>
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
