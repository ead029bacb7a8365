import { receiptsOf } from 'chat-server/client/parts'
import { useRef } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { Avatar } from '../parts/avatar.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { useVisible } from '../parts/visible.ts'
import { Waiting } from '../parts/waiting.tsx'
import { roomTexts } from '../texts/room.ts'
import { texts } from '../texts/texts.ts'

/** Who has read a message. */
export function ReadersDialog({ message_id, onClose }: { message_id: string; onClose: () => void }) {
  const { store, people } = useApp()
  const list = receiptsOf(store).readers(message_id)
  const { readers, count, is_off, status, error, has_more } = useReadable(list)
  const end = useRef<HTMLLIElement>(null)
  useVisible(end, () => void list.loadMore(), has_more)
  const words = roomTexts.value.readers
  return (
    <Dialog title={words.title} onClose={onClose}>
      {status === 'failed' && <ErrorNote error={error} onRetry={() => void list.reload()} />}
      {status === 'loading' && <Waiting />}
      {status === 'ready' && <p class="quiet">{is_off ? words.off : words.count(count)}</p>}
      <ul class="participants">
        {readers.map(({ user_id }) => (
          <li key={user_id}>
            <Avatar id={user_id} name={people.nameOf(user_id)} />
            <span class="name" dir="auto">
              {people.nameOf(user_id)}
            </span>
          </li>
        ))}
        {has_more && (
          <li ref={end} class="quiet">
            {texts.value.loading}
          </li>
        )}
      </ul>
    </Dialog>
  )
}
