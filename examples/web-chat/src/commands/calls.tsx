import { commandsOf, type PendingCall } from 'chat-server/client/parts'
import { useApp } from '../app/context.ts'
import { IconButton } from '../parts/icon-button.tsx'
import { composeTexts } from '../texts/compose.ts'

/** The own calls of commands that wait for an answer. */
export function Calls({ conversation_id, calls }: { conversation_id: string; calls: readonly PendingCall[] }) {
  const { store, people } = useApp()
  const { commands } = composeTexts.value
  return (
    <div class="calls" role="status">
      <ul>
        {calls.map(({ key, bot_id, name, status }) => {
          const bot = people.nameOf(bot_id)
          return (
            <li key={key}>
              <span dir="auto">
                <code>/{name}</code> {status === 'waiting' ? commands.waiting(bot) : commands.unanswered(bot)}
              </span>
              {status === 'unanswered' && (
                <IconButton
                  icon="close"
                  label={commands.dismiss}
                  onClick={() => commandsOf(store).discard(conversation_id, key)}
                />
              )}
            </li>
          )
        })}
      </ul>
    </div>
  )
}
