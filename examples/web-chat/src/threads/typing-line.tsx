import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { texts } from '../texts/texts.ts'

/** Who is typing in a thread; without one, in a new thread of the conversation. */
export function TypingLine({ conversation_id, root_id }: { conversation_id: string; root_id?: string }) {
  const { people, presence } = useApp()
  const typists = useReadable(presence.typing(conversation_id)).filter((each) => each.root_id === root_id)
  const names = typists.map(({ user_id }) => people.nameOf(user_id))
  return (
    <p class="typing" dir="auto">
      {names.length > 0 && texts.value.typing(names)}
    </p>
  )
}
