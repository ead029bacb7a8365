import { ConversationSign } from '../conversations/sign.tsx'
import { Avatar } from '../parts/avatar.tsx'
import type { Choice } from './use-choices.ts'

/** What a conversation or a person that was found is known by. */
export function ChoiceSign({ choice: { id, name, photo, conversation } }: { choice: Choice }) {
  return conversation ? <ConversationSign conversation={conversation} /> : <Avatar id={id} name={name} photo={photo} />
}
