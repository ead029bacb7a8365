import type { ConversationSummary } from 'chat-server/client'
import { AssistantAvatar, Avatar } from '../parts/avatar.tsx'
import { titleOf } from './title.ts'

interface SignProps {
  conversation: ConversationSummary
  presence?: 'online' | 'away' | 'offline' | undefined
}

/** What a conversation is known by: a person's photo, a room's icon, the sign of the assistant. */
export function ConversationSign({ conversation, presence }: SignProps) {
  const { with: partner, layout, icon } = conversation
  if (partner)
    return <Avatar id={partner.user_id} name={titleOf(conversation)} photo={partner.avatar_url} presence={presence} />
  if (layout === 'assistant' && !icon) return <AssistantAvatar />
  return (
    <span class="avatar sign" aria-hidden="true">
      {icon || '#'}
    </span>
  )
}
