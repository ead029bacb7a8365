import { canOf } from 'chat-server/client/parts'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { hrefOf } from '../app/route.ts'
import { roomTexts } from '../texts/room.ts'
import { texts } from '../texts/texts.ts'

/** What a user begins with who takes part in no conversation: a room of their own, or one that all see. */
export function EmptyList({ onCreate }: { onCreate: () => void }) {
  const { store } = useApp()
  const { can } = useReadable(canOf(store).service)
  const { empty, empty_text, create_room } = texts.value.conversations
  return (
    <div class="empty">
      <h2>{empty}</h2>
      <p>{empty_text}</p>
      {can?.create_conversations && (
        <button type="button" class="primary" onClick={onCreate}>
          {create_room}
        </button>
      )}
      {can?.browse && <a href={hrefOf({ name: 'browse' })}>{roomTexts.value.browse.title}</a>}
    </div>
  )
}
