import type { ConversationSummary } from 'chat-server/client'
import { useApp } from '../app/context.ts'
import { AssistantAvatar, Avatar } from '../parts/avatar.tsx'
import { titleOf } from './title.ts'

interface SignProps {
  conversation: ConversationSummary
  presence?: 'online' | 'away' | 'offline' | undefined
}

/** What a conversation is known by: a person's photo, a room's icon, the sign of the assistant. */
export function ConversationSign({ conversation, presence }: SignProps) {
  const { assistants } = useApp().people
  const { with: partner, layout, icon, assistant } = conversation
  if (partner)
    return <Avatar id={partner.user_id} name={titleOf(conversation)} photo={partner.avatar_url} presence={presence} />
  if (layout === 'assistant' && !icon) return <AssistantAvatar info={assistant && assistants.infoOf(assistant.key)} />
  return (
    <span class="avatar sign" aria-hidden="true">
      {icon || '#'}
    </span>
  )
}
