import { receiptsOf } from 'chat-server/client/parts'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { roomTexts } from '../texts/room.ts'

/** How many readers are named; of more, their number is shown. */
const MAX_NAMES = 3

/** Who has read a message, in a line; nothing while no user has. */
export function ReadBy({ message_id }: { message_id: string }) {
  const { store, people } = useApp()
  const { readers, count } = useReadable(receiptsOf(store).readers(message_id))
  if (count === 0) return null
  const names = readers.slice(0, MAX_NAMES).map(({ user_id }) => people.nameOf(user_id))
  return (
    <p class="note read-by" dir="auto">
      {roomTexts.value.readers.read_by(names, count - names.length)}
    </p>
  )
}
