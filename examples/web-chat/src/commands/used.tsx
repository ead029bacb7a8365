import type { Message } from 'chat-server/client'
import { useApp } from '../app/context.ts'
import { composeTexts } from '../texts/compose.ts'

/** The call of a command that a text of a bot answers. */
export function Used({ invocation: { user_id, name } }: { invocation: NonNullable<Message['invocation']> }) {
  return (
    <p class="used" dir="auto">
      {composeTexts.value.commands.used(useApp().people.nameOf(user_id))} <code>/{name}</code>
    </p>
  )
}
